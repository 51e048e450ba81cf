"""What planning a dataset needs to know of the file and the caller's wishes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from .inline_budget import InlineBudget
from .linked_files import HDF5File, LinkedFiles
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
    file : HDF5File
        The file.
    files : LinkedFiles
        It and the other files of the generation.
    contiguous_chunk_bytes : int
        Size of a dataset in one piece above which it is cut into slabs.
    on_unsupported : str
        ``copy``, ``skip`` or ``error``.
    is_source : bool
        Whether the dataset is a source of a virtual one, so that few values are not held either.
    """

    resolver: ReferenceResolver
    budget: InlineBudget
    size: int | None
    shift: int
    file: HDF5File
    files: LinkedFiles
    contiguous_chunk_bytes: int
    on_unsupported: OnUnsupported
    is_source: bool = False
