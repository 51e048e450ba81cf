"""`RfsBuilder`: what there is, told piece by piece, and the document made of it.

Nodes, and where chunks are, are added by the classes that it extends; what is checked is beside them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

from ..errors import UsageError
from ..refs.document import Rfs
from ..refs.node_checks import is_count
from ..refs.zarr_metadata import group_metadata
from . import checks
from .chunks import ChunkBuilder
from .document import make_document
from .parts import ArrayPart


class RfsBuilder(ChunkBuilder):
    """Collects what a reference file system holds and builds the document.

    Groups that lie above something that was added exist by themselves. Paths have no leading slash;
    the root is ``""``. Every method raises `UsageError`, which names the argument and the array, for
    what cannot be. Lengths are compared with chunks when the document is built, since a selection
    decides what they hold, and evenly spaced chunks with each other.
    """

    def defer(self, add: Callable[[RfsBuilder], None]) -> None:
        """Have something added when the document is built, because adding it is work.

        Parameters
        ----------
        add : callable
            Called once, with the builder, by `build`.
        """
        self._parts.deferred.append(add)

    def add_source(
        self, url: str, size: int | None, etag: str | None = None, *, linked: bool = False
    ) -> None:
        """Record what a source file is now, so that a reader notices when it is replaced.

        Parameters
        ----------
        url : str
            The file, as references name it.
        size : int or None
            Its bytes; a file of unknown size is not recorded.
        etag : str, optional
            Its ETag, with the double quotes.
        linked : bool, optional
            Whether it is not described itself, but holds values of a file that is.
        """
        checks.check_url(url, "a source")
        if etag is not None:
            checks.check_text(etag, f"etag of the source {url!r}")
        if size is None:
            return
        if not is_count(size):
            raise UsageError(
                f"size of the source {url!r} is {str(size)[:80]!r}; expected a whole number of bytes"
            )
        self._parts.sources[url] = {"size": size, "etag": etag} if etag else {"size": size}
        if linked:
            self._parts.sources[url]["linked"] = True

    def has_source(self, url: str) -> bool:
        """Whether a source file is recorded under this URL, by `add_source` or with an array.

        Parameters
        ----------
        url : str
            The file, as references name it.
        """
        return url in self._parts.sources

    def add_skipped(
        self, path: str, kind: Literal["dataset", "attribute", "link", "group"], reason: str
    ) -> None:
        """Record that an object of the source is left out, and why.

        Parameters
        ----------
        path : str
            The object's path; of an attribute ``path@name``.
        kind : str
            ``dataset``, ``attribute``, ``link`` or ``group``.
        reason : str
            Why, in half a sentence.
        """
        for argument, text in (("path", path), ("kind", kind), ("reason", reason)):
            checks.check_text(text, f"{argument} of what is left out")
        self._parts.skipped.append({"path": path, "kind": kind, "reason": reason})

    def add_converted(self, path: str, what: str) -> None:
        """Record that an object's values are copied, or its type changed on the way.

        Parameters
        ----------
        path : str
            The object's path.
        what : str
            What was done, in half a sentence.
        """
        for argument, text in (("path", path), ("what", what)):
            checks.check_text(text, f"{argument} of what is converted")
        self._parts.converted.append({"path": path, "what": what})

    def build(self) -> Rfs:
        """Make the document.

        Returns
        -------
        Rfs
            With index arrays in memory; version 2 exactly when it uses gen, indexes or selections.
        """
        while self._parts.deferred:
            self._parts.deferred.pop(0)(self)
        self._parts.nodes.setdefault("", group_metadata())
        for path, node in self._parts.nodes.items():
            if isinstance(node, ArrayPart):
                checks.check_runs_apart(node.runs, path)
                checks.check_lengths(node, path)
        return make_document(self._parts)
