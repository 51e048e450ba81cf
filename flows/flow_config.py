"""What the configurations of all flows have: the file they were read from, a digest, and warnings."""

from __future__ import annotations

import hashlib
from typing import Self

import orjson
from pydantic import PrivateAttr

from .section import Section


class FlowConfig(Section):
    """A whole configuration; each flow has its own."""

    _source: str = PrivateAttr(default="")

    @property
    def source(self) -> str:
        """The file it was read from, as it was named; empty when it came from elsewhere."""
        return self._source

    def read_from(self, path: str) -> Self:
        """Remember which file it was read from."""
        self._source = path
        return self

    @property
    def digest(self) -> str:
        """Twelve hexadecimal digits, the same for the same content."""
        content = orjson.dumps(self.model_dump(mode="json"), option=orjson.OPT_SORT_KEYS)
        return hashlib.sha256(content).hexdigest()[:12]
