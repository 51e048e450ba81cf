"""An Icechunk repository of virtual chunks: the one dataset that is read, under its own path."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import h5py
import icechunk
import numpy as np
import zarr
from zarr.codecs.numcodecs import Zlib

from benchmarks.files.chunk_values import chunk_table
from benchmarks.measure.prepared import Prepared


def prepare(arguments: dict[str, Any]) -> Prepared:
    """Nothing is warmed up."""
    return Prepared(lambda: _make(arguments), lambda made: made)


def container_of(source: str) -> tuple[str, Any]:
    """Where the virtual chunks of a source are, as Icechunk wants to be told."""
    if source.startswith("http"):
        return "/".join(source.split("/")[:3]) + "/", icechunk.http_store({"allow_http": "true"})
    folder = str(Path(source).parent)
    return f"file://{folder}/", icechunk.local_filesystem_store(folder)


def _make(arguments: dict[str, Any]) -> None:
    target = Path(f"{arguments['target']}.icechunk")
    shutil.rmtree(target, ignore_errors=True)
    source = arguments["source"]
    config = icechunk.RepositoryConfig.default()
    config.set_virtual_chunk_container(icechunk.VirtualChunkContainer(*container_of(source)))
    storage = icechunk.local_filesystem_storage(str(target))
    repository = icechunk.Repository.create(storage, config=config)
    repository.save_config()
    session = repository.writable_session("main")
    with h5py.File(arguments["path"]) as file:
        url = source if source.startswith("http") else f"file://{source}"
        _add(session.store, arguments["dataset"], file[arguments["dataset"]], url)
    session.commit("written")


def _add(store: Any, path: str, dataset: h5py.Dataset, url: str) -> None:
    chunks = dataset.chunks or dataset.shape
    compressors = [Zlib(level=dataset.compression_opts)] if dataset.compression == "gzip" else None
    zarr.create_array(
        store,
        name=path,
        shape=dataset.shape,
        chunks=chunks,
        dtype=dataset.dtype,
        compressors=compressors,
        fill_value=0,
    )
    grid = tuple(-(-extent // edge) for extent, edge in zip(dataset.shape, chunks, strict=True))
    if dataset.chunks is None:
        offsets, lengths = np.array([dataset.id.get_offset()]), np.array([dataset.id.get_storage_size()])
    else:
        offsets, lengths = chunk_table(dataset)  # all are written, and come in the order of the grid
    store.set_virtual_refs_arr(
        path, grid, [url] * len(offsets), offsets.astype(np.uint64), lengths.astype(np.uint64)
    )
