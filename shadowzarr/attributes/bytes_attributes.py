"""Bytes in attributes, stored as base64 text: the Bytes Attributes convention.

Bytes are written as ``"base64:"`` and the bytes in base64; text that begins so gets the prefix
``_str_`` (and text that has that prefix before it gets one more). Only a node whose attributes hold
bytes registers the convention, and only registered nodes are decoded.
"""

from __future__ import annotations

import base64
import re
from typing import Any

from ._convention import Convention

_PREFIX = "base64:"
_LOOKS_ENCODED = re.compile(r"(?:_str_)*base64:")


def _is_special(value: Any) -> bool:
    return isinstance(value, bytes | bytearray | memoryview)


def _encode(value: Any) -> Any:
    if _is_special(value):
        return _PREFIX + base64.b64encode(value).decode("ascii")
    if isinstance(value, str) and _LOOKS_ENCODED.match(value):
        return f"_str_{value}"
    return value


def _decode(value: Any) -> Any:
    if not isinstance(value, str) or not _LOOKS_ENCODED.match(value):
        return value
    if value.startswith(_PREFIX):
        return base64.b64decode(value[len(_PREFIX) :], validate=True)
    return value.removeprefix("_str_")


BYTES = Convention(
    # Chosen for this convention and never to change: documents are recognised by it.
    uuid="e6a456e4-34b3-4f16-9120-92f66bff2d30",
    name="bytes-attributes",
    description="Bytes are stored as base64 text",
    is_special=_is_special,
    encode=_encode,
    decode=_decode,
)
