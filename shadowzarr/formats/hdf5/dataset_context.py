"""What planning a dataset needs to know of the file and the caller's wishes."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from .inline_budget import InlineBudget
from .references import ReferenceResolver

OnUnsupported = Literal["copy", "skip", "error"]


@dataclass(frozen=True, slots=True)
class DatasetContext:
    """What planning a dataset needs to know of the file and the caller's wishes.

    Attributes
    ----------
    resolver : ReferenceResolver
        Paths of references.
    budget : InlineBudget
        Room for inline values.
    size : int or None
        Bytes of the file.
    shift : int
        Added to every offset that HDF5 reports (``userblock``).
    local_path : pathlib.Path or None
        The file, when h5py reads it by local path.
    contiguous_chunk_bytes : int
        Size of a dataset in one piece above which it is cut into slabs.
    on_unsupported : str
        ``copy``, ``skip`` or ``error``.
    allow_external : bool
        Whether files outside the file's folder may be read.
    """

    resolver: ReferenceResolver
    budget: InlineBudget
    size: int | None
    shift: int
    local_path: Path | None
    contiguous_chunk_bytes: int
    on_unsupported: OnUnsupported
    allow_external: bool
