"""Names and paths of HDF5, which are bytes, ↔ text that JSON can hold.

Pure. A name that is UTF-8 stands as it is; any other, and one that begins like an encoded one, is written
in hexadecimal after ``hex:``.
"""

from __future__ import annotations

PREFIX = "hex:"


def name_to_text(name: bytes) -> str:
    r"""A name as it stands in JSON.

    >>> name_to_text(b"caf\xe9")
    'hex:636166e9'
    """
    try:
        text = name.decode("utf-8")
    except UnicodeDecodeError:
        return PREFIX + name.hex()
    return PREFIX + name.hex() if text.startswith(PREFIX) else text


def text_to_name(text: str) -> bytes:
    """The bytes of a name that `name_to_text` wrote."""
    if text.startswith(PREFIX):
        try:
            return bytes.fromhex(text.removeprefix(PREFIX))
        except ValueError:
            return text.encode("utf-8", "surrogateescape")
    return text.encode("utf-8", "surrogateescape")


def path_to_text(path: bytes) -> str:
    """A path as it stands in JSON, each of its names by itself."""
    try:
        text = path.decode("utf-8")
    except UnicodeDecodeError:
        text = PREFIX
    return "/".join(map(name_to_text, path.split(b"/"))) if PREFIX in text else text


def text_to_path(text: str) -> bytes:
    """The bytes of a path that `path_to_text` wrote."""
    return b"/".join(map(text_to_name, text.split("/")))
