"""Text of HDF5 as it is stored ↔ what it says: padding, length, bytes that are not UTF-8.

Pure. In JSON, bytes stand as base64 after a prefix; text that begins like that is written so too.
"""

from __future__ import annotations

import base64

PREFIX = "base64:"

NULLTERM = "H5T_STR_NULLTERM"
NULLPAD = "H5T_STR_NULLPAD"
SPACEPAD = "H5T_STR_SPACEPAD"


def unpad(data: bytes, padding: str) -> bytes:
    """What stored text of fixed length says."""
    if padding == SPACEPAD:
        return data.rstrip(b" ")
    return data.partition(b"\0")[0] if padding == NULLTERM else data.rstrip(b"\0")


def pad(text: bytes, length: int, padding: str) -> bytes:
    """Text of fixed length as it is stored.

    Raises
    ------
    ValueError
        When it is too long.
    """
    if len(text) > length:
        raise ValueError(f"text of {len(text)} bytes in a datatype of {length}")
    return text.ljust(length, b" " if padding == SPACEPAD else b"\0")


def bytes_to_json(data: bytes) -> str:
    """Bytes as text, in base64."""
    return PREFIX + base64.b64encode(data).decode("ascii")


def text_to_json(data: bytes) -> str:
    """Text as it stands in JSON."""
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError:
        return bytes_to_json(data)
    return bytes_to_json(data) if text.startswith(PREFIX) else text


def json_to_bytes(value: str | bytes) -> bytes:
    """The bytes that `text_to_json` or `bytes_to_json` wrote; plain text as UTF-8.

    Raises
    ------
    ValueError
        When what follows the prefix is not base64.
    """
    if isinstance(value, bytes):
        return value
    if value.startswith(PREFIX):
        return base64.b64decode(value.removeprefix(PREFIX), validate=True)
    return value.encode("utf-8", "surrogateescape")
