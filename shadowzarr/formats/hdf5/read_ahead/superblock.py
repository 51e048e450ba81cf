"""The superblock: where a file's metadata begin (HDF5 File Format, II.A and II.B).

Bytes in, numbers out.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from .fields import NotUnderstoodError, Sizes, address, number

SIGNATURE = b"\x89HDF\r\n\x1a\n"
LENGTH = 128
"""Bytes that hold a superblock of any version."""

_FIRST_USERBLOCK = 512
_SYMBOL_TABLE = 1
_NO_CACHE = (0, 0)


@dataclass(frozen=True, slots=True)
class Superblock:
    """What a walk over a file has to know first.

    Attributes
    ----------
    base : int
        What addresses count from: bytes of the user block.
    sizes : Sizes
        Of addresses and lengths.
    root : int
        Address of the root group's object header.
    table : tuple of int, optional
        Addresses of the root group's B-tree and local heap, when they are cached here.
    extension : int, optional
        Address of the object header of the superblock extension.
    driver : int, optional
        Address of the driver information block.
    group_internal, group_leaf, chunk_internal : int
        Half the number of children of a group's B-tree node, of entries of a symbol table node, and of
        children of a chunk index' version 1 B-tree node.
    """

    base: int
    sizes: Sizes
    root: int
    table: tuple[int, int] | None = None
    extension: int | None = None
    driver: int | None = None
    group_internal: int = 16
    group_leaf: int = 4
    chunk_internal: int = 32


def places(size: int) -> list[int]:
    """Where a superblock may be in a file of this size: at 0, 512, 1024, 2048 and so on."""
    found, offset = [], 0
    while offset + len(SIGNATURE) <= size:
        found.append(offset)
        offset = 2 * offset or _FIRST_USERBLOCK
    return found


def parse_superblock(data: bytes, offset: int) -> Superblock:
    """A superblock of version 0 to 3.

    Parameters
    ----------
    data : bytes
        `LENGTH` bytes, or what is left of the file.
    offset : int
        Where they are. HDF5 counts addresses from there, whatever the superblock says.

    Raises
    ------
    NotUnderstoodError
        When it is none, or of another version.
    """
    if not data.startswith(SIGNATURE):
        raise NotUnderstoodError("no superblock")
    version = number(data, 8, 1)
    if version > 3:
        raise NotUnderstoodError(f"a superblock of version {version}")
    return _early(data, offset, version) if version < 2 else _late(data, offset)


def with_node_sizes(superblock: Superblock, data: bytes) -> Superblock:
    """A superblock with what a B-tree 'K' values message of its extension says (IV.A.2.t)."""
    chunk, internal, leaf = (number(data, at, 2) for at in (1, 3, 5))
    return replace(superblock, chunk_internal=chunk, group_internal=internal, group_leaf=leaf)


def _early(data: bytes, offset: int, version: int) -> Superblock:
    sizes = Sizes(number(data, 13, 1), number(data, 14, 1))
    leaf, internal = number(data, 16, 2), number(data, 18, 2)
    chunk = number(data, 24, 2) if version == 1 else 32
    at = 24 + 4 * version
    root = at + 5 * sizes.address
    header = address(data, root, sizes)
    if header is None:
        raise NotUnderstoodError("no root group")
    table = None
    if number(data, root + sizes.address, 4) == _SYMBOL_TABLE:
        scratch = root + sizes.address + 8
        tree, heap = (address(data, scratch + k * sizes.address, sizes) for k in (0, 1))
        table = (tree, heap) if tree is not None and heap is not None else None
    return Superblock(
        base=offset,
        sizes=sizes,
        root=header,
        table=table,
        driver=address(data, at + 3 * sizes.address, sizes),
        group_internal=internal,
        group_leaf=leaf,
        chunk_internal=chunk,
    )


def _late(data: bytes, offset: int) -> Superblock:
    sizes = Sizes(number(data, 9, 1), number(data, 10, 1))
    extension, root = (address(data, 12 + k * sizes.address, sizes) for k in (1, 3))
    if root is None:
        raise NotUnderstoodError("no root group")
    return Superblock(base=offset, sizes=sizes, root=root, extension=extension)
