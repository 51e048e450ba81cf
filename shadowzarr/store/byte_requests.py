"""zarr's requests for parts of values, as our stores understand them. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from zarr.abc.store import OffsetByteRequest, RangeByteRequest, SuffixByteRequest

if TYPE_CHECKING:
    from zarr.abc.store import ByteRequest


def bounds(byte_range: ByteRequest | None) -> tuple[int | None, int | None]:
    """A request for part of a value, as the start and stop of a slice."""
    match byte_range:
        case None:
            return None, None
        case RangeByteRequest(start, end):
            return start, end
        case OffsetByteRequest(offset):
            return offset, None
        case SuffixByteRequest(suffix):
            return (-suffix, None) if suffix else (0, 0)
    raise ValueError(f"Unexpected byte_range, got {byte_range!r}.")  # zarr's own words
