# ruff: noqa: E501 - headers as their formats have them
"""Small sets of images as microscopes write them, and sound, from the definitions of their formats."""

import json
import struct
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import tifffile
from tiff_by_hand import SHORT, Page, gray, write

SHAPE = (6, 5, 4)


def images(
    frames: int = SHAPE[0], dtype: Any = "<u2", rows: int = SHAPE[1], columns: int = SHAPE[2]
) -> np.ndarray:
    """Values that are all different."""
    return np.arange(frames * rows * columns).reshape(frames, rows, columns).astype(dtype)


def tiff_stack(
    folder: Path, *, files: int = 1, frames: int = SHAPE[0], dtype: Any = "<u2", **options: Any
) -> list[Path]:
    """Plain stacks, one page after the other."""
    paths = [folder / f"stack{n}.tif" for n in range(files)]
    for number, path in enumerate(paths):
        data = images(frames * files, dtype)[number * frames : (number + 1) * frames]
        tifffile.imwrite(path, data, metadata=None, photometric="minisblack", **options)
    return paths


def scanimage(folder: Path, *, channels: int = 1, planes: int = 1, cycles: int = 3, flyback: int = 0) -> Path:
    """ScanImage 2016 and later: BigTIFF with settings behind its header, and a page for each channel and slice."""
    names = " ".join(f"'Channel {n + 1}'" for n in range(channels))
    saved = " ".join(str(n + 1) for n in range(channels))
    values = {
        "SI.LINE_FORMAT_VERSION": 1, "SI.acqState": "'focus'", "SI.VERSION_MAJOR": "'2016'", "SI.VERSION_MINOR": "'1'",
        "SI.hChannels.channelSave": f"[{saved}]" if channels > 1 else 1, "SI.hChannels.channelName": f"{{{names}}}",
        "SI.hRoiManager.scanFrameRate": 30.5, "SI.hRoiManager.scanVolumeRate": 10.25,
        "SI.hStackManager.enable": "true" if planes > 1 else "false", "SI.hStackManager.numSlices": planes,
        "SI.hStackManager.framesPerSlice": 1, "SI.hStackManager.numFramesPerVolume": planes,
        "SI.hStackManager.numFramesPerVolumeWithFlyback": planes + flyback,
        "SI.hFastZ.numFramesPerVolume": planes + flyback,
    }  # fmt: skip
    text = "".join(f"{key} = {value}\n" for key, value in values.items())
    roi = json.dumps({"RoiGroups": {"imagingRoiGroup": {"rois": {"scanfields": {}}}}}).encode() + b"\0"
    block = struct.pack("<IIII", 0x07030301, 3, len(text) + 1, len(roi)) + text.encode() + b"\0" + roi
    count = cycles * channels * (planes + flyback)
    pages = []
    for number, image in enumerate(images(count, "<i2")):
        about = f"frameNumbers = {number // channels + 1}\nframeTimestamps_sec = {number // channels / 30.5:.6f}\n"
        about += "epoch = [2020 1 2 3 4 5.000000]\n"
        tags = {**gray(SHAPE[2], SHAPE[1], 16), 339: (SHORT, 2), 270: about, 305: text}
        data = image.tobytes()
        if number:
            pages.append(Page(tags, [data]))
        else:
            pages.append(Page(tags, [block, data], offsets=[16 + len(block)], counts=[len(data)]))
    path = folder / "scan_00001.tif"
    path.write_bytes(write(pages, big=True))
    return path


def movie_hdf5(folder: Path, *, channels: int = 1, **options: Any) -> Path:
    """A dataset of (channel, frame, row, column), as roiextractors reads it."""
    path = folder / "movie.h5"
    with h5py.File(path, "w") as file:
        data = np.stack([images(60) + n for n in range(channels)])
        file.create_dataset("mov", data=data, **options).attrs["fr"] = 30.0
    return path


def bruker(folder: Path, *, frames: int = SHAPE[0]) -> Path:
    """Prairie View: an XML and a TIFF file for each frame."""
    place = folder / "bruker"
    place.mkdir()
    items = []
    for number, image in enumerate(images(frames)):
        name = f"bruker_Cycle00001_Ch2_{number + 1:06}.ome.tif"
        tifffile.imwrite(place / name, image, metadata=None, photometric="minisblack")
        items.append(
            f'<Frame relativeTime="{number / 20:.4f}" absoluteTime="{1 + number / 20:.4f}" index="{number + 1}">'
            f'<File channel="2" channelName="Ch2" page="1" filename="{name}"/></Frame>'
        )
    state = (
        '<PVStateShard><PVStateValue key="micronsPerPixel"><IndexedValue index="XAxis" value="1.1"/>'
        '<IndexedValue index="YAxis" value="1.1"/><IndexedValue index="ZAxis" value="5"/></PVStateValue>'
        '<PVStateValue key="linesPerFrame" value="5"/><PVStateValue key="pixelsPerLine" value="4"/>'
        '<PVStateValue key="framePeriod" value="0.05"/><PVStateValue key="scanLinePeriod" value="6.3e-05"/>'
        '<PVStateValue key="positionCurrent"><SubindexedValues index="XAxis"><SubindexedValue subindex="0" value="1"/>'
        '</SubindexedValues><SubindexedValues index="YAxis"><SubindexedValue subindex="0" value="2"/></SubindexedValues>'
        "</PVStateValue></PVStateShard>"
    )
    (place / "bruker.xml").write_text(
        '<?xml version="1.0"?>\n<PVScan version="5.8.64.800" date="1/2/2020 3:04:05 AM" notes="">'
        f'{state}<Sequence type="TSeries Timed Element" cycle="1">{"".join(items)}</Sequence></PVScan>\n'
    )
    return place


def thor(folder: Path, *, frames: int = SHAPE[0]) -> Path:
    """ThorImage: an XML beside OME-TIFF."""
    path = folder / "Image_001_001.ome.tif"
    tifffile.imwrite(path, images(frames), metadata={"axes": "TYX"}, photometric="minisblack", ome=True)
    (folder / "Experiment.xml").write_text(
        '<?xml version="1.0"?>\n<ThorImageExperiment><Software version="4.0"/><Date uTime="1577934245"/>'
        '<LSM frameRate="30.1" pixelSizeUM="0.8" widthUM="3.2" heightUM="4" name="ResonanceGalvo"/>'
        '<Wavelengths><Wavelength name="ChanA" exposuretimeMS="0"/></Wavelengths></ThorImageExperiment>\n'
    )
    return path


def micro_manager(folder: Path, *, frames: int = SHAPE[0], files: int = 2) -> Path:
    """Micro-Manager 2: OME-TIFF with a summary behind the header, in several files, and settings beside."""
    place = folder / "mm"
    place.mkdir()
    names = [f"mm_MMStack_Default{f'_{n}' * bool(n)}.ome.tif" for n in range(files)]
    each = frames // files
    located = "".join(
        f'<TiffData FirstT="{n}" IFD="{n % each}"><UUID FileName="{names[n // each]}">u</UUID></TiffData>'
        for n in range(frames)
    )
    ome = (
        '<?xml version="1.0"?><OME xmlns="http://www.openmicroscopy.org/Schemas/OME/2016-06"><Image ID="Image:0">'
        f'<Pixels ID="Pixels:0" DimensionOrder="XYCZT" Type="uint16" SizeX="{SHAPE[2]}" SizeY="{SHAPE[1]}" SizeC="1" '
        f'SizeZ="1" SizeT="{frames}">{located}</Pixels></Image></OME>'
    )
    summary = json.dumps(
        {
            "Width": SHAPE[2],
            "Height": SHAPE[1],
            "Channels": 1,
            "ChNames": ["Default"],
            "StartTime": "2020-01-02 03:04:05",
        }
    ).encode()
    block = struct.pack("<8I", 54773648, 0, 483765892, 0, 99384722, 0, 2355492, len(summary)) + summary
    block += bytes(-len(block) % 2)
    for number, name in enumerate(names):
        pages = []
        for page, image in enumerate(images(frames)[number * each : (number + 1) * each]):
            tags = {**gray(SHAPE[2], SHAPE[1], 16), 51123: '{"Width": 4}'}
            data = image.tobytes()
            if page:
                pages.append(Page(tags, [data]))
            else:
                tags |= {270: ome}
                pages.append(Page(tags, [block, data], offsets=[8 + len(block)], counts=[len(data)]))
        (place / name).write_bytes(write(pages))
    settings = {"map": {"PlaybackFPS": {"scalar": 20.0}}}
    (place / "DisplaySettings.json").write_text(json.dumps(settings))
    return place


def sound(folder: Path) -> Path:
    """Two channels of WAV."""
    from scipy.io import wavfile

    path = folder / "sound.wav"
    wavfile.write(path, 8000, np.arange(600, dtype="<i2").reshape(300, 2))
    return path
