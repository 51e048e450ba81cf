# ruff: noqa: E501 - a table
"""Kinds of recordings, one small one each, and how a document stores them, in words."""

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import chained_recordings_by_hand as chained
import hdf5_recordings_by_hand as hdf5_hand
import intan_by_hand as intan
import recordings_by_hand as hand


@dataclass(frozen=True)
class Feature:
    """A recording of one kind.

    Attributes
    ----------
    title : str
        The format.
    what : str
        What is special of it.
    reader : str
        What reads it.
    make : callable
        Writes it into a folder; gives what the reader takes.
    options : dict
        Of that.
    refused : str
        Words of the reason why nothing, or something, is left out.
    """

    title: str
    what: str
    reader: str
    make: Callable[..., dict[str, Any]]
    options: dict[str, Any] = field(default_factory=dict)
    refused: str = ""


def _of(title: str, reader: str, make: Callable[..., Any], *rows: tuple[Any, ...]) -> tuple[Feature, ...]:
    return tuple(Feature(title, what, f"{reader}RawIO", make, *more) for what, *more in rows)


GZIP = {"filters": {"compression": "gzip", "shuffle": True}}
GAPS = {"gap_tolerance_ms": 1.0}

FEATURES = (
    *_of("SpikeGLX", "SpikeGLX", hand.spikeglx,
        ("384 channels and one of synchronisation, which is a stream of its own",),
        ("two probes, two gates, NI-DAQ", {"probes": 2, "gates": 2, "nidq": True}),
        ("without synchronisation", {"sync": False}),
    ),
    *_of("Open Ephys, binary", "OpenEphysBinary", hand.open_ephys_binary,
        ("one recording",),
        ("two experiments of two recordings, ADC channels as a stream of their own", {"recordings": 2, "experiments": 2, "adc": 2}),
    ),
    *_of("Open Ephys, legacy", "OpenEphys", hand.open_ephys_legacy,
        ("a file for each channel, big-endian records of 1,024 samples",),
        ("two segments, ADC channels", {"segments": 2, "adc": 1}),
        ("a channel that begins later: all are cut to what they have in common", {"late": 1, "records": 4}),
        ("a last record that is cut short, which NEO leaves out", {"cut": 100}),
        ("with gaps", {"gap": True, "records": 5}, "gaps, which NEO fills"),
    ),
    *_of("BrainVision", "BrainVision", hand.brain_vision,
        ("int16, multiplexed",),
        ("int32", {"kind": "INT_32"}),
        ("float32, vectorized: one channel after the other", {"kind": "IEEE_FLOAT_32", "orientation": "VECTORIZED"}),
    ),
    *_of("Elan", "Elan", hand.elan,
        ("big-endian; two columns are events and in no stream",),
        ("int32, one channel", {"dtype": ">i4", "channels": 1}),
    ),
    *_of("Micromed", "Micromed", hand.micromed,
        ("uint16",),
        ("two segments", {"starts": ((10, 0), (2000, 150))}),
        ("uint8", {"width": 1}),
        ("uint32", {"width": 4}),
    ),
    *_of("NeuroNexus", "NeuroNexus", hand.neuronexus,
        ("float32, three kinds of channels in one file",),
        ("kinds of channels in turns", {"kinds": ("din0", "ai0", "dout0", "ai0")}),
    ),
    *_of("Neuroscope", "NeuroScope", hand.neuroscope,
        (".dat, 6 channels",),
        (".lfp, one channel", {"ending": ".lfp", "channels": 1}),
    ),
    *_of("MCS raw", "RawMCS", hand.mcs_raw,
        ("uint16 with an ADC zero",),
        ("one channel, no ADC zero", {"zero": 0, "channels": 1}),
    ),
    *_of("Raw binary", "RawBinarySignal", hand.raw_binary,
        ("int16",),
        ("big-endian, behind 7 bytes, one channel", {"dtype": ">i2", "header": 7, "channels": 1}),
        ("float32, and a last sample without all channels, which NEO leaves out", {"dtype": "<f4", "channels": 3, "extra": 4}),
        ("float64", {"dtype": "<f8"}),
    ),
    *_of("WinEDR", "WinEdr", hand.winedr, ("channels with different scales",), ("one channel", {"channels": 1})),
    *_of("WinWCP", "WinWcp", hand.winwcp,
        ("a segment for each record",),
        ("samples that do not fill a record", {"channels": 3, "sectors": 5}),
        ("a last record that is cut short", {"cut": 100}, "cut short"),
    ),
    *_of("Maxwell", "Maxwell", hdf5_hand.maxwell,
        ("not compressed; channels first, transposed to time first",),
        ("two wells behind gzip", {"wells": 2, **GZIP}),
        ("not chunked", {"chunks": None}),
        ("the first version, with rows that are no channels", {"old": True}, "6 columns for the 4 channels"),
    ),
    *_of("Blackrock", "Blackrock", hand.blackrock,
        ("file specification 2.1; NEO leaves out the last sample", {"spec": "2.1"}),
        ("file specification 2.2", {"spec": "2.2"}),
        ("file specification 2.3", {"spec": "2.3"}),
        ("file specification 3.0", {"spec": "3.0"}),
        ("file specification 3.0 with precise times: a packet for each sample", {"spec": "3.0-ptp"}),
        ("a pause, which makes two segments", {"blocks": (300, 200), **GAPS}),
        ("the same with precise times", {"spec": "3.0-ptp", "blocks": (300, 200), **GAPS}),
        ("cut short", {"cut": 50}, "cut short"),
    ),
    *_of("SpikeGadgets", "SpikeGadgets", hand.spikegadgets,
        ("a packet for each sample: a device's analog channels, 32 electrodes",),
        ("128 channels, a last packet that is cut short, which NEO leaves out", {"channels": 128, "cut": 30}),
        ("analog channels at odd bytes, no scale", {"ecu": ((1, 4), 7), "scaled": False}),
        ("analog channels with others between them", {"ecu": ((0, 6), 8)}),
        ("analog channels in another order than the header has", {"ecu": ((4, 2), 6)}, "another order"),
    ),
    *_of("Intan", "Intan", intan.header_attached,
        ("RHD 1.5: blocks of 60 samples after the header", {}, "16 digital channels"),
        ("RHD 3.0: blocks of 128 samples", {"version": (3, 0), "digital": 0}),
        ("RHS 3.0 with DC amplifier and stimulation", {"kind": "rhs", "version": (3, 0), "dc": True}, "current's size and sign"),
        ("a last block that is cut short", {"cut": 10}, "not a multiple"),
    ),
    *_of("Intan", "Intan", intan.file_per_signal,
        ("a file for each kind of channels", {}, "16 digital channels"),
        ("the same of RHS", {"kind": "rhs", "dc": True}, "current's size and sign"),
    ),
    *_of("Intan", "Intan", intan.file_per_channel, ("a file for each channel; digital ones are stored as they are shown",)),
    *_of("Neuralynx", "Neuralynx", hand.neuralynx,
        ("records of 512 samples; inverted input: the gain is negative",),
        ("a last record with 300 samples", {"last": 300}),
        ("a gap, which makes two segments", {"inverted": False, "gap_at": 2, **GAPS}),
        ("a gap, of which the reader was told nothing", {"gap_at": 2}, "gap_tolerance_ms"),
    ),
    *_of("EDF", "EDF", hand.edf,
        ("one sampling rate",),
        ("three sampling rates, channels in turns", {"rates": (256, 100, 256, 100, 1)}),
        ("EDF+C with annotations between the signals", {"annotations": 1, "kind": "EDF+C"}),
        ("EDF+D", {"annotations": 3, "kind": "EDF+D"}, "Only continuous EDF+"),
        ("cut short", {"cut": 100}, "not EDF(+) or BDF(+) compliant"),
    ),
    *_of("BDF", "EDF", hand.bdf, ("samples of 24 bits", {}, "24 bits")),
    *_of("MEArec", "MEArec", hdf5_hand.mearec,
        ("not compressed",),
        ("behind gzip", GZIP),
    ),
    *_of("Biocam", "Biocam", hdf5_hand.biocam,
        ("version 3, frames", {"version": 100, "chunk": 50}),
        ("version 3, flat, chunks of whole frames", {}),
        ("version 3, flat, not chunked", {"chunk": 0}),
        ("version 3, flat, behind gzip", GZIP),
        ("version 4, flat", {"version": 4}),
        ("version 3, flat, chunks that cut frames", {"chunk": 500}, "no whole frames"),
        ("inverted", {"version": 100, "chunk": 50, "inverted": True}, "inverted"),
        ("version 4, events only", {"version": 4, "events": True}, "events alone"),
    ),
    *_of("NeuroExplorer", "NeuroExplorer", hand.neuroexplorer,
        ("NEX 1: each continuous variable is a stream",),
        ("a variable of three fragments, shown as one signal", {"fragments": (50, 40, 30), "variables": 1}),
    ),
    *_of("TDT", "Tdt", hand.tdt,
        ("a tank of one block: blocks of samples among others",),
        ("one block, float32", {"dtype": "<f4", "tank": False}),
        ("a file for each channel", {"sev": True}),
    ),
    *_of("Spike2", "Spike2", chained.spike2,
        ("three channels of int16, in blocks that lie in turns",),
        ("float32", {"kinds": (9, 9)}),
        ("version 6, both kinds of samples, events, pauses that make three segments", {"version": 6, "kinds": (1, 9, 3, 0, 1), "blocks": ((100, 100, 60), (100, 50), (30,))}),
        ("version 4, blocks of different lengths, cut into what they have in common", {"version": 4, "blocks": ((200, 300, 128),)}),
        ("channels of different scales", {"scales": (1, 2, 1)}),
        ("a channel with less samples, each a stream of its own", {"lacks": 3, "try_signal_grouping": False}),
        ("a channel with less samples, in one stream", {"lacks": 3}, "fills the rest with zeros"),
        ("blocks with no length in common", {"blocks": ((7, 9, 10),)}, "that they have in common"),
        ("cut short", {"cut": 11}, "cut short"),
        ("cut short before a block", {"cut": 1600}, "cannot read it"),
    ),
    *_of("Axona", "Axona", chained.axona,
        ("two tetrodes: three samples of 64 channels in each packet",),
        ("four tetrodes, several chunks", {"tetrodes": (1, 2, 3, 4), "packets": 21000}),
        ("16 tetrodes, a last packet that is cut short, which NEO leaves out", {"tetrodes": range(1, 17), "extra": 100}),
        ("a last packet of an odd number of bytes", {"extra": 101}, "cannot read it"),
        ("tetrodes 1 and 3", {"tetrodes": (1, 3)}, "under other names"),
    ),
    *_of("AxoGraph", "Axograph", chained.axograph,
        ("X: scaled int16, a column for each trace",),
        ("version 1: float32", {"version": 1}),
        ("version 2: scaled int16", {"version": 2}),
        ("X of version 3: int16", {"version": 3, "types": (4, 4, 4)}),
        ("X: float64, one trace", {"types": (7,)}),
        ("X: three episodes, each a segment", {"episodes": 3}),
        ("X: int32", {"version": 5, "types": (5,), "notes": "made " * 200}, "integers of 64"),
        ("X: traces of different lengths", {"lengths": (250, 200)}, "200 and 250 samples"),
        ("X: int16 and float64", {"types": (4, 7)}, "do not have the same"),
        ("X: cut short", {"cut": 1200}, "cannot read it"),
    ),
)  # fmt: skip
"""All of them."""


def words(rfs: dict[str, Any]) -> str:
    """How the arrays of a document are stored: those that are alike once."""
    shown: dict[str, list[str]] = {}
    for key, text in sorted(rfs["refs"].items()):
        if key.endswith("zarr.json") and '"array"' in text:
            path = key.removesuffix("/zarr.json")
            shown.setdefault(_stored(rfs, path, json.loads(text)), []).append(path)
    return "; ".join(f"{_names(paths)}: {how}" for how, paths in shown.items())


def _names(paths: list[str]) -> str:
    more = f" and {len(paths) - 2} more" if len(paths) > 3 else ""
    return ", ".join(f"`{path}`" for path in (paths[:2] if more else paths)) + more


def _stored(rfs: dict[str, Any], path: str, node: dict[str, Any]) -> str:
    chunk = tuple(node["chunk_grid"]["configuration"]["chunk_shape"])
    codecs = [f"`{codec['name']}`" for codec in node["codecs"] if codec["name"] != "bytes"]
    big = any((codec.get("configuration") or {}).get("endian") == "big" for codec in node["codecs"])
    parts = [f"`{node['data_type']}`", *(["big-endian"] if big else []), *codecs]
    parts.append(f"{tuple(node['shape'])} in chunks of {chunk}")
    rules = sum(entry["key"].startswith(f"{path}/c/") for entry in rfs.get("gen", []))
    listed = sum(key.startswith(f"{path}/c/") for key in rfs["refs"])
    if rules:
        parts.append(f"{rules} rule{'s' * (rules > 1)}")
    if listed:
        parts.append(f"{listed} chunk{'s' * (listed > 1)}")
    if path in rfs.get("selections", {}):
        parts.append("a selection")
    return ", ".join(parts)


def without_folder(text: str, folder: Path) -> str:
    """A message without the name of the folder of the test."""
    return text.replace(f"{folder}/", "").replace(str(folder), "the folder")
