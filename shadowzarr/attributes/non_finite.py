"""NaN and infinities in attributes, stored as strings: the Non-Finite Attributes Zarr convention.

A number that is not finite is written as ``"NaN"``, ``"Infinity"`` or ``"-Infinity"``; text that
could be taken for one gets the prefix ``_str_`` (and text that has that prefix gets one more). Only a
node whose attributes hold such a number registers the convention, and only registered nodes are
decoded, so that an ordinary node is written as it always was.
"""

from __future__ import annotations

import math
import re
from typing import Any

from ._convention import Convention

_NAMES = {"NaN": math.nan, "Infinity": math.inf, "-Infinity": -math.inf}
_LOOKS_ENCODED = re.compile(r"(?:_str_)*(?:NaN|Infinity|-Infinity)")


def _is_special(value: Any) -> bool:
    return isinstance(value, float) and not math.isfinite(value)


def _encode(value: Any) -> Any:
    if _is_special(value):
        return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"
    if isinstance(value, str) and _LOOKS_ENCODED.fullmatch(value):
        return f"_str_{value}"
    return value


def _decode(value: Any) -> Any:
    if not isinstance(value, str) or not _LOOKS_ENCODED.fullmatch(value):
        return value
    return _NAMES[value] if value in _NAMES else value.removeprefix("_str_")


NON_FINITE = Convention(
    uuid="2adc9aac-d676-4e93-8feb-903b6ae9e08a",
    name="non-finite-attributes",
    description="Numbers that are not finite are stored as strings",
    is_special=_is_special,
    encode=_encode,
    decode=_decode,
)
