"""The data layout message of an object header → how a dataset is stored.

HDF5 File Format, IV.A.2.i "The Data Layout Message", versions 1 to 5. Version 5 (HDF5 2.0) is version 4 with
wider sizes of filtered chunks in the index.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from .layout import ChunkedStorage, ExtensibleArrayParameters, FieldSizes, IndexKind
from .refusal import understood

LayoutClass = Literal["compact", "contiguous", "chunked", "virtual"]

_CLASSES: tuple[LayoutClass, ...] = ("compact", "contiguous", "chunked", "virtual")
_KINDS: dict[int, IndexKind] = {
    1: "single",
    2: "implicit",
    3: "fixed_array",
    4: "extensible_array",
    5: "v2_btree",
}
_WITHOUT_FILTERS_AT_EDGES = 1
_SINGLE_IS_FILTERED = 2


@dataclass(frozen=True, slots=True)
class LayoutMessage:
    """How a dataset is stored.

    Attributes
    ----------
    version : int
        Of the message.
    layout_class : str
        ``compact``, ``contiguous``, ``chunked`` or ``virtual``.
    address : int or None
        Relative to the base address: of contiguous data, of a chunk index, or of the global heap collection
        that describes a virtual dataset; None when there is none.
    size : int
        Bytes of contiguous data, where the message says so; of a virtual dataset the index in the collection.
    chunked : ChunkedStorage or None
        Of a chunked dataset.
    """

    version: int
    layout_class: LayoutClass
    address: int | None = None
    size: int = 0
    chunked: ChunkedStorage | None = None


def parse_layout(body: bytes | memoryview, sizes: FieldSizes) -> LayoutMessage:
    """Read a data layout message.

    Parameters
    ----------
    body : bytes
        The message without its prefix; more may follow it.
    sizes : FieldSizes
        From the superblock.

    Raises
    ------
    IndexRefusedError
        When it is of a version or form that is not known, or too short.
    """
    fields = _Fields(bytes(body), sizes)
    version = fields.take(1)
    if version in (1, 2):
        return _parse_old(fields, version)
    understood(version in (3, 4, 5), f"a data layout message of version {version}")
    number = fields.take(1)
    understood(number < len(_CLASSES), f"a data layout of class {number}")
    layout_class = _CLASSES[number]
    if layout_class == "compact":
        return LayoutMessage(version, layout_class, size=fields.take(2))
    if layout_class == "contiguous":
        return LayoutMessage(version, layout_class, fields.address(), fields.take(sizes.length_size))
    if layout_class == "virtual":
        return LayoutMessage(version, layout_class, fields.address(), fields.take(4))
    storage = _chunked_by_btree(fields, version) if version == 3 else _chunked_by_any(fields, version)
    return LayoutMessage(version, layout_class, storage.address, chunked=storage)


class _Fields:
    """Little-endian numbers, one after the other."""

    def __init__(self, body: bytes, sizes: FieldSizes) -> None:
        self._body, self._place, self.sizes = body, 0, sizes

    def take(self, width: int) -> int:
        part = self._body[self._place : self._place + width]
        understood(len(part) == width, "a data layout message that is cut short")
        self._place += width
        return int.from_bytes(part, "little")

    def address(self) -> int | None:
        found = self.take(self.sizes.offset_size)
        return None if found == self.sizes.undefined else found

    def dimensions(self, count: int, width: int) -> tuple[int, ...]:
        """Chunk edges and, last, the size of an element."""
        found = tuple(self.take(width) for _ in range(count))
        understood(len(found) > 1 and 0 not in found, f"chunks of the shape {found}")
        return found


def _parse_old(fields: _Fields, version: int) -> LayoutMessage:
    """Versions 1 and 2, of HDF5 1.4 and before."""
    count, number = fields.take(1), fields.take(1)
    understood(number < 3, f"a data layout of class {number}")
    fields.take(5)
    layout_class = _CLASSES[number]
    address = None if layout_class == "compact" else fields.address()
    if layout_class != "chunked":
        return LayoutMessage(version, layout_class, address)
    *edges, element_size = fields.dimensions(count, 4)
    storage = ChunkedStorage(version, "v1_btree", address, tuple(edges), element_size)
    return LayoutMessage(version, layout_class, address, chunked=storage)


def _chunked_by_btree(fields: _Fields, version: int) -> ChunkedStorage:
    count, address = fields.take(1), fields.address()
    *edges, element_size = fields.dimensions(count, 4)
    return ChunkedStorage(version, "v1_btree", address, tuple(edges), element_size)


def _chunked_by_any(fields: _Fields, version: int) -> ChunkedStorage:
    flags, count, width = fields.take(1), fields.take(1), fields.take(1)
    understood(1 <= width <= 8, f"chunk edges of {width} bytes")
    understood(flags < 4, f"the flags {flags} of chunked storage")
    *edges, element_size = fields.dimensions(count, width)
    number = fields.take(1)
    understood(number in _KINDS, f"a chunk index of type {number}")
    kind = _KINDS[number]
    size, mask, page_bits, growth, node_size = None, 0, 0, None, 0
    if kind == "single" and flags & _SINGLE_IS_FILTERED:
        size, mask = fields.take(fields.sizes.length_size), fields.take(4)
    elif kind == "fixed_array":
        page_bits = fields.take(1)
    elif kind == "extensible_array":
        growth = ExtensibleArrayParameters(*(fields.take(1) for _ in range(5)))
    elif kind == "v2_btree":
        node_size, _, _ = fields.take(4), fields.take(1), fields.take(1)
    return ChunkedStorage(
        version=version,
        kind=kind,
        address=fields.address(),
        edges=tuple(edges),
        element_size=element_size,
        skips_filters_at_edges=bool(flags & _WITHOUT_FILTERS_AT_EDGES),
        filtered_size=size,
        filter_mask=mask,
        page_bits=page_bits,
        growth=growth,
        node_size=node_size,
    )
