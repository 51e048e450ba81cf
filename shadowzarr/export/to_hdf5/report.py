"""What `to_hdf5` wrote, what it wrote otherwise than the original, and what it left out."""

from __future__ import annotations

import dataclasses
import json
from dataclasses import dataclass, field

from ...formatting import format_count
from ...notebook import SummaryShown


@dataclass(frozen=True, slots=True)
class Remark:
    """Something about one object of the file that was written.

    Attributes
    ----------
    path : str
        The object; an attribute is named after ``@``.
    what : str
        In a few words.
    """

    path: str
    what: str


@dataclass(slots=True, repr=False)
class ToHdf5Report(SummaryShown):
    """The outcome of `to_hdf5`.

    Attributes
    ----------
    path : str
        The file.
    groups, datasets, datatypes, attributes, links : int
        What was written; the root is not among the groups, and links are those beside the objects' own names.
    chunks_copied : int
        Chunks whose stored bytes were copied as they are.
    pieces_written : int
        Pieces of datasets that were decoded and written.
    left_out : list of Remark
        What is not in the file, or not whole, and why.
    changed : list of Remark
        What is in the file otherwise than in the original (a filter that is not installed).
    """

    path: str
    groups: int = 0
    datasets: int = 0
    datatypes: int = 0
    attributes: int = 0
    links: int = 0
    chunks_copied: int = 0
    pieces_written: int = 0
    left_out: list[Remark] = field(default_factory=list)
    changed: list[Remark] = field(default_factory=list)

    @property
    def is_whole(self) -> bool:
        """Whether nothing was left out."""
        return not self.left_out

    def leave_out(self, path: str, reason: str) -> None:
        """Record that something is not in the file.

        Parameters
        ----------
        path : str
            Where it is in the document.
        reason : str
            Why it is not in the file.
        """
        self.left_out.append(Remark(path, reason))

    def change(self, path: str, what: str) -> None:
        """Record that something is in the file otherwise than in the original.

        Parameters
        ----------
        path : str
            Where it is.
        what : str
            What is otherwise.
        """
        self.changed.append(Remark(path, what))

    def summary(self) -> str:
        """The outcome for people, what is left out and changed by name."""
        lines = [
            f"{self.path}: {format_count(self.groups, 'group')} beside the root, "
            f"{format_count(self.datasets, 'dataset')}, {format_count(self.attributes, 'attribute')}; "
            f"{format_count(self.chunks_copied, 'chunk')} copied as stored, "
            f"{format_count(self.pieces_written, 'piece')} of datasets decoded and written"
        ]
        lines += [f"changed: {remark.path}: {remark.what}" for remark in self.changed]
        lines += [f"left out: {remark.path}: {remark.what}" for remark in self.left_out]
        return "\n".join(lines)

    def to_json(self) -> str:
        """The outcome for programs."""
        return json.dumps(dataclasses.asdict(self), ensure_ascii=False, indent=2)
