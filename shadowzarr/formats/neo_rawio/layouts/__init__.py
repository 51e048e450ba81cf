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
}
"""Module and function of the rule for each reader; a module is imported when it is needed."""

REFUSED: dict[str, str] = {}
"""Readers whose samples cannot be referenced, and why."""


def _rule(name: str) -> Rule:
    import importlib

    module, function = _RULES[name]
    rule: Rule = getattr(importlib.import_module(f".{module}", __name__), function)
    return rule
