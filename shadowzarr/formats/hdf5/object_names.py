"""Names of links and paths of objects: bytes in the file, text in the document.

Pure. HDF5 allows any bytes but NUL and ``/``; a document holds Unicode text only, and zarr refuses the
names ``.`` and ``..`` and takes backslashes for slashes.
"""

from __future__ import annotations

from collections.abc import Collection


def decode_name(name: bytes) -> str:
    """A name as h5py gives it: bytes that are not UTF-8 become surrogates."""
    return name.decode("utf-8", "surrogateescape")


def encode_name(name: str) -> bytes:
    """The name's bytes in the file."""
    return name.encode("utf-8", "surrogateescape")


def printable(name: str) -> str:
    """A name that JSON can hold: bytes that are not UTF-8 are written in hexadecimal."""
    return encode_name(name).decode("utf-8", "backslashreplace")


def why_not_a_node(name: str, siblings: Collection[str] = ()) -> str:
    r"""Why zarr cannot hold a node of this name; empty when it can.

    Parameters
    ----------
    name : str
        The name.
    siblings : collection of str
        The other names in the group. zarr takes a backslash for a slash, so that ``a\\b`` would be the
        member ``b`` of a group ``a`` beside it.
    """
    if name in ("", ".", ".."):
        return f"zarr allows no node named {name!r}"
    if "\\" in name:
        parts = name.split("\\")
        if not {"", ".", ".."}.isdisjoint(parts):
            return "zarr takes a backslash for a slash, and finds no node of this name"
        if any("\\".join(parts[:number]) in siblings for number in range(1, len(parts))):
            return "zarr takes a backslash for a slash, and finds a member of the object beside it"
    return "" if is_unicode(name) else "its name is not UTF-8"


def is_unicode(name: str) -> bool:
    """Whether a name's bytes are UTF-8."""
    try:
        name.encode("utf-8")
    except UnicodeEncodeError:  # a surrogate in place of a byte
        return False
    return True


def child_path(parent: str, name: str) -> str:
    """Path of a child; paths have no leading slash, and the root is ``""``."""
    return f"{parent}/{name}" if parent else name


def absolute(path: str) -> str:
    """The path as references and links write it."""
    return f"/{path}"


def attribute_path(path: str, name: str) -> str:
    """How an attribute is named where it is reported as left out or converted."""
    return printable(f"{absolute(path)}@{name}")


def tree_order(path: str) -> tuple[str, ...]:
    """Sort key that puts a group before what is in it, and siblings by name."""
    return tuple(path.split("/")) if path else ()
