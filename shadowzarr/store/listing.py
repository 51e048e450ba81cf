"""The keys of a store, without tables of chunks.

Folders are listed from the keys of the document. Chunks that gen entries and indexes give are worked
out one by one as they are asked for, and an index is read for them, an index chunk at a time.
"""

from __future__ import annotations

from collections.abc import AsyncIterator

from .index_reader import IndexReader
from .locate import ChunkId, Locator


class Listing:
    """Lists the keys of a document.

    Parameters
    ----------
    locator : Locator
        Finds keys.
    index : IndexReader
        Reads chunk indexes.
    """

    def __init__(self, locator: Locator, index: IndexReader) -> None:
        self._locator = locator
        self._index = index

    async def keys(self, prefix: str) -> AsyncIterator[str]:
        """Every key that begins with a text: those of ``refs`` in their order, then computed chunks."""
        for key in self._locator.refs:
            if key.startswith(prefix):
                yield key
        for path in self._locator.computed_paths:
            head = f"{path}/" if path else ""
            if head.startswith(prefix) or prefix.startswith(head):
                async for chunk in self._computed(path):
                    key = self._locator.key(chunk)
                    if key.startswith(prefix):
                        yield key

    async def names(self, folder: str) -> AsyncIterator[str]:
        """Names directly in a folder, in the document's order."""
        known = dict.fromkeys(self._locator.tree.children(folder))
        for name in known:
            yield name
        prefix = f"{folder}/" if folder else ""
        for path in self._locator.computed_paths:
            if path == folder and self._is_nested(path):
                if "c" not in known:
                    yield "c"
            elif path == folder or (prefix and prefix.startswith(f"{path}/" if path else "c")):
                async for name in self._new_names(path, prefix, known):
                    yield name

    async def _new_names(self, path: str, prefix: str, known: dict[str, None]) -> AsyncIterator[str]:
        async for chunk in self._computed(path):
            key = self._locator.key(chunk)
            name = key[len(prefix) :].partition("/")[0]
            if key.startswith(prefix) and name not in known:
                known[name] = None
                yield name

    def _is_nested(self, path: str) -> bool:
        """Whether all chunks of an array lie in its folder ``c``, so that no index need be read for it."""
        layout = self._locator.layout(path)
        return layout.encoding == "default" and layout.separator == "/"

    async def _computed(self, path: str) -> AsyncIterator[ChunkId]:
        for chunk in self._locator.generated(path):
            yield chunk
        if self._locator.is_indexed(path):
            async for chunk in self._index.listed(path):
                if not self._locator.is_explicit(chunk) and not self._locator.is_generated(chunk):
                    yield chunk
