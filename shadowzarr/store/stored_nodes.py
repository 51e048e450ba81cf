"""The metadata of all nodes as a document stores them, for whatever writes them to another place."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from ..errors import InvalidReferencesError
from ..refs.chunk_key import METADATA_NAME
from ..refs.document import Rfs
from .locate import Locator
from .served_metadata import ServedMetadata


def stored_nodes(rfs: Rfs, locator: Locator) -> Iterator[tuple[str, dict[str, Any]]]:
    """Paths and metadata of a document's nodes, groups before what is in them.

    Parameters
    ----------
    rfs : Rfs
        The document.
    locator : Locator
        The same document's.

    Yields
    ------
    path : str
        As it stands in the document, and not checked; empty for the root.
    metadata : dict
        ``zarr.json``: strict JSON, and no codec or key encoding that only our store serves.

    Raises
    ------
    InvalidReferencesError
        When there is no root, a node has no name, or metadata cannot be understood.
    """
    if METADATA_NAME not in rfs["refs"]:
        raise InvalidReferencesError(f"the references have no {METADATA_NAME} at their root")
    served = ServedMetadata(locator, strict_json=True)
    keys = (key for key in rfs["refs"] if key == METADATA_NAME or key.endswith(f"/{METADATA_NAME}"))
    for key in sorted(keys, key=lambda key: key.count("/")):
        path = "" if key == METADATA_NAME else key.removesuffix(f"/{METADATA_NAME}")
        if not path and key != METADATA_NAME:
            raise InvalidReferencesError(f"the references have {key!r}, a node without a name")
        metadata: dict[str, Any] = json.loads(served.get(key) or b"{}")
        metadata.pop("consolidated_metadata", None)
        yield path, metadata
