"""Inline values: bytes held in the document itself.

The form is kerchunk's: ``"base64:"`` and the bytes in base64, or plain text that stands for its own
UTF-8 bytes. We always write the first for chunks. Compression of an inline chunk is a codec in the
array's ``zarr.json``, never an encoding of the value, so that any kerchunk reader can read it.
"""

from __future__ import annotations

import base64

from ..errors import InvalidReferencesError

PREFIX = "base64:"


def encode_inline(data: bytes | bytearray | memoryview) -> str:
    """Bytes as an inline value."""
    return PREFIX + base64.b64encode(data).decode("ascii")


def decode_inline(value: str) -> bytes:
    """Bytes of an inline value.

    Raises
    ------
    InvalidReferencesError
        When the value announces base64 and is not, or is text that has no UTF-8 form.
    """
    if not value.startswith(PREFIX):
        try:
            return value.encode("utf-8")
        except UnicodeEncodeError as error:
            raise InvalidReferencesError(f"an inline value is not UTF-8: {error}") from error
    try:
        return base64.b64decode(value[len(PREFIX) :], validate=True)
    except ValueError as error:
        raise InvalidReferencesError(f"an inline value is not valid base64: {error}") from error


def inline_size(value: str) -> int:
    """Number of bytes of an inline value, without decoding it."""
    if not value.startswith(PREFIX):
        return len(value.encode("utf-8", "surrogatepass"))
    digits = len(value) - len(PREFIX)
    return digits * 3 // 4 - (2 if value.endswith("==") else 1 if value.endswith("=") else 0)
