"""The attribute encodings and strict JSON, read a second time.

The library reads its own encodings with ``shadowzarr.attributes``, which also wrote them. Verification
reads them here, from the text of the two conventions (Non-Finite Attributes, Bytes Attributes), so that
a mistake in one reading shows.
"""

from __future__ import annotations

import base64
import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

NON_FINITE_UUID = "2adc9aac-d676-4e93-8feb-903b6ae9e08a"
BYTES_UUID = "e6a456e4-34b3-4f16-9120-92f66bff2d30"

_NUMBERS = {"NaN": math.nan, "Infinity": math.inf, "-Infinity": -math.inf}
_ESCAPE = "_str_"


def strict_json(text: str | bytes) -> Any:
    """Parse JSON in which NaN and Infinity are errors, as are repeated names.

    Raises
    ------
    ValueError
        Saying what is not strict JSON.
    """
    return json.loads(text, parse_constant=_refuse, object_pairs_hook=_unique)


def _refuse(token: str) -> Any:
    raise ValueError(f"the bare token {token}")


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    names = [name for name, _ in pairs]
    if len(set(names)) != len(names):
        raise ValueError(f"the name {next(name for name in names if names.count(name) > 1)!r} twice")
    return dict(pairs)


@dataclass(frozen=True)
class Decoded:
    """Attributes of a node as they were before they were encoded.

    Attributes
    ----------
    values : dict
        Without the registrations.
    non_finite, encoded_bytes : int
        How many values were encoded by each convention.
    complaint : str
        What is wrong with the registrations; empty when they are as they should be.
    """

    values: dict[str, Any]
    non_finite: int
    encoded_bytes: int
    complaint: str


def decode(stored: Mapping[str, Any]) -> Decoded:
    """Undo both encodings where a node registers them, and check the registrations.

    Raises
    ------
    ValueError
        When a value that must be base64 is not.
    """
    entries = stored.get("zarr_conventions", [])
    named = [entry.get("uuid") for entry in entries if isinstance(entry, Mapping)]
    counter = {NON_FINITE_UUID: 0, BYTES_UUID: 0}
    decoder = _Decoder(frozenset(named), counter)
    values = {name: decoder.value(value) for name, value in stored.items() if name != "zarr_conventions"}
    unneeded = [uuid for uuid in named if uuid in counter and not counter[uuid]]
    unknown = [uuid for uuid in named if uuid not in counter]
    complaint = ""
    if len(set(named)) != len(named) or len(named) != len(entries):
        complaint = "an entry twice, or one without uuid"
    elif unneeded or unknown:
        complaint = f"registers {', '.join(map(str, unneeded + unknown))}, which no attribute needs"
    return Decoded(values, counter[NON_FINITE_UUID], counter[BYTES_UUID], complaint)


class _Decoder:
    def __init__(self, registered: frozenset[Any], counter: dict[str, int]) -> None:
        self._registered = registered
        self._counter = counter

    def value(self, value: Any) -> Any:
        if isinstance(value, Mapping):
            return {name: self.value(item) for name, item in value.items()}
        if isinstance(value, list):
            return [self.value(item) for item in value]
        return self._text(value) if isinstance(value, str) else value

    def _text(self, text: str) -> Any:
        bare = text
        while bare.startswith(_ESCAPE):
            bare = bare.removeprefix(_ESCAPE)
        if NON_FINITE_UUID in self._registered and bare in _NUMBERS:
            if text in _NUMBERS:
                self._counter[NON_FINITE_UUID] += 1
                return _NUMBERS[text]
            return text.removeprefix(_ESCAPE)
        if BYTES_UUID in self._registered and bare.startswith("base64:"):
            if text == bare:
                self._counter[BYTES_UUID] += 1
                return base64.b64decode(text.removeprefix("base64:"), validate=True)
            return text.removeprefix(_ESCAPE)
        return text
