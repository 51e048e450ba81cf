"""VirtualiZarr's HDF5 parser over the block reader that its documentation recommends, 64 KiB a block."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np
from obspec_utils.readers import BlockStoreReader
from obspec_utils.registry import ObjectStoreRegistry
from obstore.store import HTTPStore, LocalStore
from virtualizarr.parsers import HDFParser

from benchmarks.measure.prepared import Prepared

from .found import ATTRIBUTE, found

BLOCK = 64 * 1024


def prepare(arguments: dict[str, Any]) -> Prepared:
    """Warm up with the small file."""
    parse(arguments["warm_up"])

    def run() -> Any:
        return parse(arguments["source"])

    return Prepared(run, lambda store: _answer(store, arguments["dataset"]))


def parse(source: str) -> Any:
    """Parse a file into a store of manifests."""
    reader = partial(BlockStoreReader, block_size=BLOCK, max_cached_blocks=1_024)
    parser = HDFParser(reader_factory=reader, links_and_references=True)
    if not source.startswith("http"):
        return parser(url=f"file://{source}", registry=ObjectStoreRegistry({"file://": LocalStore()}))
    address = "/".join(source.split("/")[:3])
    store = HTTPStore.from_url(address, client_options={"allow_http": True})
    return parser(url=source, registry=ObjectStoreRegistry({address: store}))


def arrays_of(group: Any, prefix: str = "") -> Iterator[tuple[str, Any]]:
    """All arrays of a manifest group with their paths."""
    for name, array in group.arrays.items():
        yield f"{prefix}{name}", array
    for name, inner in group.groups.items():
        yield from arrays_of(inner, f"{prefix}{name}/")


def _answer(store: Any, dataset: str | None) -> dict[str, int | str]:
    arrays = dict(arrays_of(store._group))
    attributes = {name: array.metadata.attributes.get(ATTRIBUTE) for name, array in arrays.items()}
    if dataset is None:
        return found(attributes, (), ())
    manifest = arrays[dataset].manifest
    present = np.asarray(manifest._paths != "")
    return found(attributes, manifest._offsets[present], manifest._lengths[present])
