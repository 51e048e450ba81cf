"""The header of a Blosc 1 buffer (c-blosc, README_CHUNK_FORMAT), looked at before anything is decoded.

The decoder allocates what the header claims, whatever follows, and reads past the end of the bytes where
their length is another one: c-blosc 1.21 then ends the process.
"""

from __future__ import annotations

import struct

HEADER_NBYTES = 16


def check_blosc_header(data: bytes | memoryview) -> int:
    """Compare what a header says with what is there.

    Returns
    -------
    int
        Bytes that the buffer decodes to.

    Raises
    ------
    ValueError
        When it is no Blosc buffer of that length.
    """
    if len(data) < HEADER_NBYTES:
        raise ValueError(f"{len(data)} bytes are no Blosc buffer")
    _, _, _, item, decoded, block, encoded = struct.unpack("<BBBBIII", data[:HEADER_NBYTES])
    if encoded != len(data):
        raise ValueError(f"its header says {encoded:,} bytes of Blosc, there are {len(data):,}")
    if item == 0 or (decoded and not 0 < block <= decoded):
        raise ValueError(f"its header says blocks of {block:,} bytes, elements of {item}")
    return int(decoded)
