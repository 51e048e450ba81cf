"""VirtualiZarr into an Icechunk repository, for files of one group."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import icechunk

from benchmarks.measure.prepared import Prepared

from . import virtualizarr


def prepare(arguments: dict[str, Any]) -> Prepared:
    """Warm up by parsing the small file, whose groups Icechunk's writer does not take."""
    parsed = virtualizarr.prepare(arguments)
    output = Path(arguments["output"])
    folder = f"file://{Path(arguments['source']).parent}/"

    def run() -> Any:
        store = parsed.run()
        config = icechunk.RepositoryConfig.default()
        container = icechunk.VirtualChunkContainer(folder, icechunk.local_filesystem_store(folder[7:]))
        config.set_virtual_chunk_container(container)
        repository = icechunk.Repository.create(icechunk.local_filesystem_storage(str(output)), config=config)
        session = repository.writable_session("main")
        store.to_virtual_dataset(loadable_variables=[]).vz.to_icechunk(session.store)
        session.commit("written")
        return store

    return Prepared(run, parsed.answer)
