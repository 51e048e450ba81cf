"""What the tests of the builder share: a builder with one array, and the metadata of a document's nodes."""

import json
from collections.abc import Callable
from typing import Any

import pytest

from shadowzarr import RfsBuilder


@pytest.fixture
def with_array() -> Callable[..., RfsBuilder]:
    """A builder with the array ``a``: ten rows of two int16 in chunks of four, unless told otherwise."""

    def make(**options: Any) -> RfsBuilder:
        builder = RfsBuilder()
        builder.add_array("a", **{"shape": [10, 2], "data_type": "int16", "chunk_shape": [4, 2], **options})
        return builder

    return make


@pytest.fixture
def metadata() -> Callable[..., dict[str, Any]]:
    """``zarr.json`` of a node of a document."""
    return lambda rfs, path="a": json.loads(rfs["refs"][f"{path}/zarr.json" if path else "zarr.json"])
