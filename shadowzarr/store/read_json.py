"""A JSON document of another writer, from a path or URL; what is no JSON is named as what it is."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import orjson

from ..access.locations import without_query
from ..access.range_reader import default_reader
from ..errors import InvalidReferencesError, ReadError
from .other_files import kind_of_binary, refuse_source

if TYPE_CHECKING:
    from .fetch_chunk import FileReader


def read_json(location: str, *, reader: FileReader | None = None) -> Any:
    """Read a document.

    Parameters
    ----------
    location : str
        Canonical.
    reader : optional
        What reads the file; the process's own by default.

    Raises
    ------
    ReadError
        When it cannot be read.
    InvalidReferencesError
        When it is no JSON; an HDF5 or TIFF file is named as such.
    """
    reader = reader or default_reader()
    refuse_source(location, reader)
    try:
        data = reader.read_whole(location)
    except OSError as error:
        if isinstance(error, ReadError):
            raise
        raise ReadError(f"{without_query(location)} cannot be read: {error}") from error
    return parse_json(bytes(data), without_query(location))


def parse_json(data: bytes, name: str) -> Any:
    """Parse JSON, in which bare NaN and infinities, as other writers have them, are understood.

    Raises
    ------
    InvalidReferencesError
        When it is none.
    """
    try:
        return orjson.loads(data)
    except orjson.JSONDecodeError as strict:
        try:
            return json.loads(data)
        except (ValueError, RecursionError):
            kind = kind_of_binary(data)
            found = f"is {kind}, not references" if kind else f"is not JSON: {strict}"
            raise InvalidReferencesError(f"{name} {found}; expected a JSON document of references") from None
