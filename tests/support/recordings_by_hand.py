# ruff: noqa: E501 - headers as their formats have them
"""Small recordings written from the public definitions of their formats, in variants.

Each function writes into an empty folder and gives what NEO's reader takes. Values are all different as far as
sixteen bits allow, so that a byte that is out of place is seen.
"""

import json
import struct
from pathlib import Path
from typing import Any

import numpy as np

from shadowzarr.testing.sample_recordings import signal, write_spikeglx_file, write_spikeglx_probe

Arguments = dict[str, Any]


def raw_binary(
    folder: Path, *, samples=500, channels=5, dtype="<i2", header=0, extra=0, gain=0.25
) -> Arguments:
    path = folder / "a.raw"
    path.write_bytes(bytes(header) + signal(samples, channels, dtype).tobytes() + bytes(extra))
    return {
        "filename": str(path), "dtype": dtype, "sampling_rate": 20000.0, "nb_channel": channels,
        "bytesoffset": header, "signal_gain": gain, "signal_offset": 3.0,
    }  # fmt: skip


def spikeglx(folder: Path, *, probes=1, gates=1, sync=True, samples=300, nidq=False) -> Arguments:
    """Files of SpikeGLX 20190327 and later: a .bin of int16 and a .meta of text, for each probe and gate."""
    for gate in range(gates):
        for probe in range(probes):
            write_spikeglx_probe(folder / f"r_g{gate}_t0.imec{probe}.ap", samples=samples, sync=sync)
        if nidq:
            meta = {
                "typeThis": "nidq", "niSampRate": "10000", "niAiRangeMax": "5", "niAiRangeMin": "-5",
                "niMNGain": "1", "niMAGain": "1", "nSavedChans": "4", "snsMnMaXaDw": "0,0,3,1",
                "snsSaveChanSubset": "all", "acqMnMaXaDw": "0,0,3,1",
                "~snsChanMap": "(0,0,1,3,1)(XA0;0:0)(XA1;1:1)(XA2;2:2)(XD0;3:3)",
            }  # fmt: skip
            write_spikeglx_file(folder / f"r_g{gate}_t0.nidq", meta, samples=samples // 3, channels=4)
    return {"dirname": str(folder)}


def open_ephys_binary(
    folder: Path, *, recordings=1, experiments=1, adc=0, channels=4, samples=400
) -> Arguments:
    """GUI 0.6: structure.oebin, continuous.dat and two arrays of times, for each recording."""
    node = folder / "Record Node 101"
    node.mkdir()
    info = '<?xml version="1.0"?>\n<SETTINGS><INFO><VERSION>0.6.4</VERSION></INFO></SETTINGS>\n'
    names = [f"CH{n + 1}" for n in range(channels)] + [f"ADC{n + 1}" for n in range(adc)]
    for experiment in range(1, experiments + 1):
        (node / ("settings.xml" if experiment == 1 else f"settings_{experiment}.xml")).write_text(info)
        for recording in range(1, recordings + 1):
            place = node / f"experiment{experiment}" / f"recording{recording}"
            data = place / "continuous" / "Board-100.Data"
            data.mkdir(parents=True)
            count = samples * recording
            signal(count, len(names), start=experiment).tofile(data / "continuous.dat")
            np.save(data / "sample_numbers.npy", np.arange(count, dtype="i8") + 1000 * recording)
            np.save(data / "timestamps.npy", (np.arange(count) + 1000 * recording) / 30000)
            stream = {
                "folder_name": "Board-100.Data/", "sample_rate": 30000, "stream_name": "Data",
                "source_processor_name": "Board", "source_processor_id": 100, "source_processor_sub_idx": 0,
                "recorded_processor": "Record Node", "recorded_processor_id": 101, "num_channels": len(names),
                "channels": [
                    {"channel_name": name, "bit_volts": 0.195, "units": "uV", "description": "", "identifier": "",
                     "history": ""} for name in names
                ],
            }  # fmt: skip
            about = {"GUI version": "0.6.4", "continuous": [stream], "events": [], "spikes": []}
            (place / "structure.oebin").write_text(json.dumps(about))
    return {"dirname": str(folder)}


def open_ephys_legacy(
    folder: Path, *, channels=3, adc=0, records=3, segments=1, gap=False, late=0, cut=0
) -> Arguments:
    """Version 0.4: a header of 1024 bytes, then records of 1024 big-endian samples."""
    for segment in range(segments):
        for number, name in enumerate(
            [*(f"CH{n + 1}" for n in range(channels)), *(f"ADC{n + 1}" for n in range(adc))]
        ):
            header = "".join(
                f"header.{key} = {value};\n"
                for key, value in {
                    "format": "'Open Ephys Data Format'", "version": "0.4", "header_bytes": "1024",
                    "description": "'made'", "date_created": "'1-Jan-2020 10101'", "channel": f"'{name}'",
                    "channelType": "'Continuous'", "sampleRate": "30000", "blockLength": "1024",
                    "bufferSize": "1024", "bitVolts": "0.195",
                }.items()
            )  # fmt: skip
            body = b""
            for record in range(late * (number == 0), records):
                at = 5000 + 1024 * (record + (gap and record >= 2))
                samples = signal(1024, channels + adc, ">i2", start=1024 * record)[:, number]
                body += struct.pack("<qHH", at, 1024, segment) + samples.tobytes() + bytes([*range(9), 255])
            ending = "" if segment == 0 else f"_{segment + 1}"
            path = folder / f"100_{name}{ending}.continuous"
            path.write_bytes(header.encode().ljust(1024) + body[: len(body) - cut])
    return {"dirname": str(folder)}


def brain_vision(
    folder: Path, *, kind="INT_16", orientation="MULTIPLEXED", channels=4, samples=300
) -> Arguments:
    """BrainVision Core Data Format 1.0: a header, markers and a file of samples."""
    dtype = {"INT_16": "<i2", "INT_32": "<i4", "IEEE_FLOAT_32": "<f4"}[kind]
    values = signal(samples, channels, dtype)
    (values if orientation == "MULTIPLEXED" else values.T).tofile(folder / "a.eeg")
    lines = "".join(f"Ch{n + 1}=E{n},,{0.5 + n},µV\n" for n in range(channels))
    (folder / "a.vhdr").write_text(
        "Brain Vision Data Exchange Header File Version 1.0\n\n[Common Infos]\nCodepage=UTF-8\nDataFile=a.eeg\n"
        f"MarkerFile=a.vmrk\nDataFormat=BINARY\nDataOrientation={orientation}\nNumberOfChannels={channels}\n"
        f"SamplingInterval=1000\n\n[Binary Infos]\nBinaryFormat={kind}\n\n[Channel Infos]\n{lines}",
        encoding="utf-8",
    )
    (folder / "a.vmrk").write_text(
        "Brain Vision Data Exchange Marker File, Version 1.0\n\n[Common Infos]\nDataFile=a.eeg\n\n[Marker Infos]\n"
        "Mk1=New Segment,,1,1,0,20200102030405000000\n"
    )
    return {"filename": str(folder / "a.vhdr")}


def elan(folder: Path, *, channels=3, samples=200, dtype=">i2") -> Arguments:
    """Three files; the last two of the columns are events."""
    count, size = channels + 2, np.dtype(dtype).itemsize
    top = 2 ** (8 * size - 1)
    lines = ["V3", "made", "", "02-01-2020 03:04:05", "02-01-2020 03:04:05", "-1", "reserved", "-1", "0.001"]
    lines += [str(count), *(f"E{n}" for n in range(channels)), "Num1", "Num2"]
    lines += ["Electrode EEG"] * channels + ["dateur echantillon", "type evenement et byte info"]
    lines += ["uV"] * channels + ["sans"] * 2 + ["-3200"] * count + ["3200"] * count
    lines += [str(-top)] * count + [str(top - 1)] * count + ["passe-haut 0"] * count + ["sans"] * count
    (folder / "a.eeg.ent").write_text("\n".join([*lines, *["0"] * count]) + "\n", encoding="ascii")
    (folder / "a.eeg.pos").write_text("10 1 0\n")
    signal(samples, count, dtype).tofile(folder / "a.eeg")
    return {"filename": str(folder / "a.eeg")}


def neuroscope(folder: Path, *, channels=6, samples=300, ending=".dat") -> Arguments:
    group = "".join(f"<channel>{n}</channel>" for n in range(channels))
    (folder / "a.xml").write_text(
        "<?xml version='1.0'?>\n<parameters><acquisitionSystem><nBits>16</nBits>"
        f"<nChannels>{channels}</nChannels><samplingRate>20000</samplingRate><voltageRange>20</voltageRange>"
        "<amplification>1000</amplification><offset>0</offset></acquisitionSystem><fieldPotentials>"
        "<lfpSamplingRate>1250</lfpSamplingRate></fieldPotentials><anatomicalDescription><channelGroups>"
        f"<group>{group}</group></channelGroups></anatomicalDescription></parameters>\n"
    )
    signal(samples, channels).tofile(folder / f"a{ending}")
    return {"filename": str(folder / "a.xml")}


def neuronexus(folder: Path, *, kinds=("ai0", "ai0", "ai1", "din0", "dout0"), samples=200) -> Arguments:
    """Allego: metadata as JSON, float32 samples, int64 times."""
    status = {
        "samp_freq": 30000.0, "shape": [samples, len(kinds)], "timestamp_range": [0, samples],
        "t_range": [0.0, samples / 30000], "start_time": "2020-01-02T03:04:05.123456-04:00",
    }  # fmt: skip
    names = {
        "chan_name": [f"{kind}_{n}" for n, kind in enumerate(kinds)],
        "ntv_chan_name": [f"n{n}" for n in range(len(kinds))],
        "chan_type": list(kinds),
    }
    about = {"status": status, "sapiens_base": {"biointerface_map": names}}
    (folder / "a.xdat.json").write_text(json.dumps(about))
    (signal(samples, len(kinds), "<f4") / 8).tofile(folder / "a_data.xdat")
    np.arange(samples, dtype="<i8").tofile(folder / "a_timestamp.xdat")
    return {"filename": str(folder / "a.xdat.json")}


def mcs_raw(folder: Path, *, channels=4, samples=200, zero=32768) -> Arguments:
    streams = ";".join(f"El_{n:02}" for n in range(channels))
    header = (
        'MC_DataTool binary conversion\r\nVersion 2.6.15\r\nMC_REC file = "made"\r\nSample rate = 25000\r\n'
        f"ADC zero = {zero}\r\nEl = 0.0625µV/AD\r\nStreams = {streams}\r\nEOH\r\n"
    )
    (folder / "a.raw").write_bytes(
        header.encode("windows-1252") + (signal(samples, channels, "<i4") + zero).astype("<u2").tobytes()
    )
    return {"filename": str(folder / "a.raw")}


def micromed(folder: Path, *, channels=3, samples=400, starts=((10, 0),), width=2) -> Arguments:
    """System 98, header type 4; ``starts`` are the segments: time and first sample of each."""
    zones = [
        "ORDER", "LABCOD", "NOTE", "FLAGS", "TRONCA", "IMPED_B", "IMPED_E", "MONTAGE", "COMPRESS", "AVERAGE",
        "HISTORY", "DVIDEO", "EVENT A", "EVENT B", "TRIGGER",
    ]  # fmt: skip
    place = {
        "ORDER": (640, 512), "LABCOD": (1152, 1024), "NOTE": (2176, 440), "TRONCA": (2624, 800),
        "EVENT A": (3424, 120), "EVENT B": (3544, 120), "TRIGGER": (3664, 60),
    }  # fmt: skip
    header = bytearray(4096)
    header[:32] = b"* MICROMED  Brain-Quick file *".ljust(32)
    header[64:106] = b"NAME".ljust(22) + b"MADE".ljust(20)
    header[128:134] = bytes([2, 1, 120, 3, 4, 5])
    struct.pack_into("<IHHHH", header, 138, 4096, channels, channels * width, 256, width)
    header[175] = 4
    for number, zone in enumerate(zones):
        struct.pack_into(
            "<8sII", header, 176 + 16 * number, zone.encode().ljust(8), *place.get(zone, (3800, 0))
        )
    middle = 2 ** (8 * width - 1)
    for number in range(channels):
        struct.pack_into("<H", header, 640 + 2 * number, number + 1)
        at = 1152 + 128 * (number + 1)
        limits = (0, 2 * middle - 1 if width < 4 else 2**31 - 1, middle if width < 4 else 0, -3200, 3200, 0)
        struct.pack_into("<BB6s6siiiiih", header, at, 1, 0, b"E%d" % number, b"G2", *limits)
        struct.pack_into("<H", header, at + 44, 1)
    for number, segment in enumerate(starts):
        struct.pack_into("<II", header, 2624 + 8 * number, *segment)
    dtype = {1: "u1", 2: "<u2", 4: "<u4"}[width]
    values = (signal(samples, channels, "<i8") + 15000).astype(dtype)
    (folder / "a.TRC").write_bytes(bytes(header) + values.tobytes())
    return {"filename": str(folder / "a.TRC")}


def neuralynx(
    folder: Path, *, channels=2, records=4, last=512, inverted=True, gap_at=0, **options: Any
) -> Arguments:
    """NCS: a header of 16 KiB, then records of 20 bytes and 512 samples, of which the last may be less full."""
    for channel in range(channels):
        text = (
            "######## Neuralynx Data File Header\r\n-FileType NCS\r\n-FileVersion 3.4\r\n-TimeCreated 2020/01/02 "
            '03:04:05\r\n-TimeClosed 2020/01/02 03:05:05\r\n-RecordSize 1044\r\n-ApplicationName Cheetah "6.3.2"'
            "\r\n-AcquisitionSystem AcqSystem1 DigitalLynxSX\r\n-HardwareSubSystemType DigitalLynxSX\r\n"
            f"-AcqEntName CSC{channel + 1}\r\n-ADChannel {channel}\r\n-InputRange 1000\r\n"
            f"-InputInverted {inverted}\r\n-SamplingFrequency 32000\r\n-ADMaxValue 32767\r\n"
            "-ADBitVolts 0.000000030518510385491027\r\n-NumADChannels 1\r\n-DspDelayCompensation Disabled\r\n"
        )
        with (folder / f"CSC{channel + 1}.ncs").open("wb") as file:
            file.write(text.encode("latin-1").ljust(16384, b"\0"))
            for record in range(records):
                valid = 512 if record < records - 1 else last
                at = 1000000 + 16000 * record + 500000 * bool(gap_at and record >= gap_at)
                file.write(struct.pack("<QIII", at, channel, 32000, valid))
                file.write(signal(512, channels, start=512 * record)[:, channel].tobytes())
    return {"dirname": str(folder), **options}


def blackrock(folder: Path, *, spec="2.3", channels=4, blocks=(300,), cut=0, **options: Any) -> Arguments:
    """NSx: file specifications 2.1, 2.2, 2.3, 3.0 (with 64-bit time stamps) and 3.0 with a packet per sample."""
    path = folder / "a.ns2"
    if spec == "2.1":
        head = struct.pack("<8s16sII", b"NEURALSG", b"1 kS/s", 30, channels)
        head += struct.pack(f"<{channels}I", *range(1, channels + 1))
        path.write_bytes(head + signal(sum(blocks), channels).tobytes())
        return {"filename": str(folder / "a"), **options}
    size, major, minor = 314 + 66 * channels, *map(int, spec.split("-")[0].split("."))
    resolution = 10**9 if spec.endswith("ptp") else 30000
    head = struct.pack(
        "<8sBBI16s256sII8HI", b"BRSMPGRP" if major == 3 else b"NEURALCD", major, minor, size, b"1 kS/s", b"made",
        30, resolution, 2020, 1, 4, 2, 3, 4, 5, 6, channels,
    )  # fmt: skip
    for number in range(channels):
        head += struct.pack(
            "<2sH16sBBhhhh16sIIHIIH", b"CC", number + 1, b"chan%d" % (number + 1), 1, number, -32764, 32764, -8191,
            8191, b"uV", 300, 1, 1, 250000, 4, 1,
        )  # fmt: skip
    body, at, begun = b"", 1000, 0
    for samples in blocks:
        values = signal(samples, channels, start=begun)
        if spec.endswith("ptp"):
            for number, row in enumerate(values):
                body += struct.pack("<BQI", 1, at * 10**6 + number * 10**6, 1) + row.tobytes()
        else:
            body += struct.pack("<BQI" if major == 3 else "<BII", 1, at, samples) + values.tobytes()
        at, begun = at + samples * 30 + 90000, begun + samples
    path.write_bytes(head + body[: len(body) - cut])
    return {"filename": str(folder / "a"), **options}


def spikegadgets(folder: Path, *, channels=32, samples=100, ecu=((2, 4), 6), scaled=True, cut=0) -> Arguments:
    """After an XML header packets of a sync byte, the bytes of devices, a time and the samples.

    ``ecu`` are the first bytes of the analog channels of a device, and its bytes.
    """
    starts, size = ecu
    analog = "".join(
        f'<Channel id="ECU_Ain{n + 1}" startByte="{at}" bit="0" dataType="analog" input="1"/>'
        for n, at in enumerate(starts)
    )
    scale = ' spikeScalingToUv="0.195"' if scaled else ""
    trodes = "".join(
        f'<SpikeNTrode id="{t + 1}"{scale}>'
        + "".join(f'<SpikeChannel hwChan="{4 * t + c}" id="{c}"/>' for c in range(4))
        + "</SpikeNTrode>"
        for t in range(channels // 4)
    )
    header = (
        '<?xml version="1.0"?>\n<Configuration>\n<GlobalConfiguration systemTimeAtCreation="0"/>\n'
        f'<HardwareConfiguration numChannels="{channels}" samplingRate="30000">\n<Device name="ECU" numBytes="{size}" '
        f'packetOrderPreference="10" available="1">{analog}</Device></HardwareConfiguration>\n'
        f"<SpikeConfiguration>{trodes}</SpikeConfiguration>\n</Configuration>\n"
    )
    packets = np.zeros(
        samples, [("sync", "u1"), ("device", "u1", (size,)), ("time", "<u4"), ("x", "<i2", (channels,))]
    )
    packets["device"] = np.arange(samples * size).reshape(samples, size) % 251
    packets["x"] = signal(samples, channels)
    body = packets.tobytes()
    (folder / "a.rec").write_bytes(header.encode() + body[: len(body) - cut])
    return {"filename": str(folder / "a.rec")}


def edf(folder: Path, *, rates=(256, 256, 256), records=4, annotations=None, kind="", cut=0) -> Arguments:
    """EDF (Kemp et al. 1992) and EDF+: ``rates`` are samples in a record of each signal, one second long."""
    labels, counts = [f"E{n}" for n in range(len(rates))], list(rates)
    if annotations is not None:
        labels.insert(annotations, "EDF Annotations")
        counts.insert(annotations, 30)
    count = len(labels)

    def column(texts, width):
        return "".join(str(text).ljust(width) for text in texts)

    is_signal = [label != "EDF Annotations" for label in labels]
    header = column(["0"], 8) + column(["X X X X", "Startdate 02-JAN-2020 X X X"], 80)
    header += "02.01.20" + "03.04.05" + column([256 * (count + 1)], 8) + column([kind], 44)
    header += column([records], 8) + column([1], 8) + column([count], 4)
    header += (
        column(labels, 16)
        + column([""] * count, 80)
        + column(["uV" if each else "" for each in is_signal], 8)
    )
    header += column([-3200 if each else -1 for each in is_signal], 8) + column(
        [3200 if each else 1 for each in is_signal], 8
    )
    header += column([-32768] * count, 8) + column([32767] * count, 8) + column([""] * count, 80)
    header += column(counts, 8) + column([""] * count, 32)
    body = b""
    for record in range(records):
        for number, length in enumerate(counts):
            if is_signal[number]:
                body += signal(length, count, start=length * record)[:, number].tobytes()
            else:
                body += f"+{record}\x14\x14\0".encode().ljust(2 * length, b"\0")
    (folder / "a.edf").write_bytes(header.encode("ascii") + body[: len(body) - cut])
    return {"filename": str(folder / "a.edf")}


def bdf(folder: Path) -> Arguments:
    """The same with samples of three bytes."""
    path = Path(edf(folder)["filename"])
    head = path.read_bytes()[: 256 * 4]
    (folder / "a.bdf").write_bytes(
        b"\xffBIOSEMI" + head[8:192] + b"24BIT".ljust(44) + head[236:] + bytes(3 * 256 * 3 * 4)
    )
    path.unlink()
    return {"filename": str(folder / "a.bdf")}


def winedr(folder: Path, *, channels=2, samples=512) -> Arguments:
    text = f"VER=6.4\r\nNC={channels}\r\nNP={samples * channels}\r\nNBH=2048\r\nAD=5.0000\r\nADCMAX=2047\r\nDT=.0001\r\n"
    for n in range(channels):
        text += f"YN{n}=I{n}\r\nYU{n}=pA\r\nYCF{n}=.01\r\nYAG{n}={n + 1}\r\nYZ{n}={5 * n}\r\nYO{n}={n}\r\n"
    values = (signal(samples, channels, "<i4") // 10).astype("<i2")
    (folder / "a.EDR").write_bytes(text.encode().ljust(2048) + values.tobytes())
    return {"filename": str(folder / "a.EDR")}


def winwcp(folder: Path, *, channels=2, records=3, sectors=4, cut=0) -> Arguments:
    text = (
        "VER=9\r\nCTIME=02/01/2020 03:04:05\r\nRTIME=02/01/2020 03:04:05\r\n"
        f"NC={channels}\r\nNR={records}\r\nNBH=2\r\nNBA=2\r\nNBD={sectors}\r\nAD=5.0000\r\nADCMAX=32767\r\nDT=.0001\r\n"
    )
    for n in range(channels):
        text += f"YN{n}=I{n}\r\nYU{n}=pA\r\nYG{n}=.01\r\nYO{n}={n}\r\nYZ{n}=0\r\nYR{n}=0\r\n"
    body = b""
    for record in range(records):
        body += struct.pack("<8s4sfff8f", b"ACCEPTED", b"TEST", 1.0, record, 1e-4, *([10.0] * 8)).ljust(
            1024, b"\0"
        )
        count = sectors * 256
        values = signal(count // channels, channels, start=record * count).tobytes()
        body += values.ljust(count * 2, b"\0")
    (folder / "a.wcp").write_bytes(text.encode().ljust(1024) + body[: len(body) - cut])
    return {"filename": str(folder / "a.wcp")}


def neuroexplorer(folder: Path, *, fragments=(120,), variables=2) -> Arguments:
    """NEX 1: a header of 544 bytes, 208 for each variable, then times, first samples and samples of each."""
    headers, body, at = b"", b"", 544 + 208 * variables
    for n in range(variables):
        count = sum(fragments)
        starts = np.cumsum([0, *fragments[:-1]])
        part = (starts * 40 + 1000).astype("<i4").tobytes() + starts.astype("<i4").tobytes()
        part += signal(count, variables)[:, n].tobytes()
        headers += struct.pack(
            "<ii64sIiiiii", 5, 102, b"FP%02d" % n, at + len(body), len(fragments), 0, 0, 0, 0
        )
        headers += struct.pack("<ddddiiidd52s", 0, 0, 1000.0, 0.5 + n, count, 0, 0, 0.25, 0, b"")
        body += part
    head = struct.pack("<4si256sdiii", b"NEX1", 106, b"made", 40000.0, 0, 100000, variables).ljust(544, b"\0")
    (folder / "a.nex").write_bytes(head + headers + body)
    return {"filename": str(folder / "a.nex")}


def tdt(folder: Path, *, channels=3, blocks=4, samples=64, dtype="<i2", tank=True, sev=False) -> Arguments:
    """A block of a tank: TBK (stores), TSQ (index), TEV (blocks of samples) and TDX, and SEV for each channel."""
    place = folder / "Block-1" if tank else folder
    place.mkdir(exist_ok=True)
    stem = place / f"{folder.name}_Block-1"
    kind = {"<f4": 0, "<i4": 1, "<i2": 2, "<f8": 4}[dtype]
    fields = {
        "StoreName": "Wave",
        "HeadName": "Wave",
        "Enabled": "1",
        "CircType": "0",
        "NumChan": str(channels),
        "StrobeMode": "0",
        "TankEvType": str(0x8101),
        "NumPoints": str(samples),
        "DataFormat": str(kind),
        "SampleFreq": "24414.0625",
    }
    text = "".join(f"NAME={name};TYPE=L;VALUE={value};\n" for name, value in fields.items())
    stem.with_suffix(".Tbk").write_text(f"[STOREHDRITEM]\n{text}[STOREHDRITEM][USERNOTEDELIMITER]")
    stem.with_suffix(".tdx").write_bytes(b"")
    index = np.zeros(
        3 + channels * blocks,
        [
            ("size", "<i4"),
            ("evtype", "<i4"),
            ("evname", "S4"),
            ("channel", "<u2"),
            ("sortcode", "<u2"),
            ("timestamp", "<f8"),
            ("offset", "<i8"),
            ("dataformat", "<i4"),
            ("frequency", "<f4"),
        ],
    )
    index["evname"][[1, -1]], index["timestamp"][[1, -1]] = [b"\x01", b"\x02"], [100.0, 101.0]
    data, alone = b"", [b""] * channels
    for block in range(blocks):
        values = signal(samples, channels, dtype, start=block * samples)
        for channel in range(channels):
            row = index[2 + block * channels + channel]
            data += bytes(12)  # what belongs to another store
            row["size"], row["evtype"], row["evname"], row["channel"] = (
                10 + samples,
                0x8101,
                b"Wave",
                channel + 1,
            )
            row["timestamp"], row["dataformat"], row["frequency"] = (
                100 + block * samples / 24414.0625,
                kind,
                24414.0625,
            )
            row["offset"] = len(alone[channel]) if sev else len(data)
            data += values[:, channel].tobytes()
            alone[channel] += values[:, channel].tobytes()
    index.tofile(stem.with_suffix(".tsq"))
    stem.with_suffix(".tev").write_bytes(data)
    for channel in range(channels * sev):
        (place / f"{folder.name}_Block-1_Wave_ch{channel + 1}.sev").write_bytes(alone[channel])
    return {"dirname": str(folder if tank else stem.with_suffix(".tsq"))}
