"""Where each reader's samples lie: one rule for each family of formats."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ....virtual import VirtualArray
from ...cannot_represent import CannotRepresentError
from ..recording import Recording, Segment
from ..streams import Stream
from . import described

Rule = Callable[[Recording, Segment, Stream], VirtualArray]
"""Gives the channels of a stream in a segment, time by channel; raises `CannotRepresentError`."""


def rule_for(reader: Any) -> Rule:
    """The rule for a reader.

    Raises
    ------
    CannotRepresentError
        When there is none; the message says why.
    """
    if described.is_described(reader):
        return described.stream_array
    names = [each.__name__ for each in type(reader).__mro__]
    for name in names:
        if name in _RULES:
            return _rule(name)
        if name in REFUSED:
            raise CannotRepresentError(f"NEO's {name}: {REFUSED[name]}")
    raise CannotRepresentError(f"NEO's {names[0]} does not say where its samples lie, and no rule here does")


_RULES = {
    "BlackrockRawIO": ("blackrock", "stream_array"),
    "SpikeGadgetsRawIO": ("spikegadgets", "stream_array"),
    "NeuralynxRawIO": ("one_record_per_chunk", "neuralynx"),
    "OpenEphysRawIO": ("one_record_per_chunk", "open_ephys"),
    "IntanRawIO": ("intan", "stream_array"),
    "EDFRawIO": ("edf", "stream_array"),
    "MEArecRawIO": ("hdf5_based", "mearec"),
    "BiocamRawIO": ("hdf5_based", "biocam"),
    "TdtRawIO": ("blocks_by_channel", "tdt"),
    "NeuroExplorerRawIO": ("blocks_by_channel", "neuroexplorer"),
    "Spike2RawIO": ("spike2", "stream_array"),
    "AxonaRawIO": ("axona", "stream_array"),
    "AxographRawIO": ("axograph", "stream_array"),
}
"""Module and function of the rule for each reader; a module is imported when it is needed."""

REFUSED: dict[str, str] = {
    "PlexonRawIO": "it shows zeros in place of the last block of a signal that is read whole",
    "Plexon2RawIO": "Plexon's own library reads the file, and does not say where samples lie",
    "CedRawIO": "CED's own library reads the file, and does not say where samples lie",
    "MedRawIO": "samples are compressed, and a library reads them that does not say where they lie",
    "NIXRawIO": "a library reads the file; it is HDF5, and generate_rfs references its datasets",
    "AlphaOmegaRawIO": "where its blocks leave gaps, the values that it shows are not set by anything",
    "PhyRawIO": "the folder holds spikes and no signals",
    "ExampleRawIO": "it makes its values up",
}
"""Readers whose samples cannot be referenced, and why."""


def _rule(name: str) -> Rule:
    import importlib

    module, function = _RULES[name]
    rule: Rule = getattr(importlib.import_module(f".{module}", __name__), function)
    return rule
