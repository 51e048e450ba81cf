"""What an original is to a verification, and how much of it is compared.

A file of each format, and arrays in memory, are originals in modules of their own; which one it is to be
is decided in ``opening``.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Protocol

from .references import References
from .regions import Region, full_regions, sampled_regions
from .report import Mode
from .tally import Tally


@dataclass(frozen=True)
class Choice:
    """Which values are compared: the mode, the seed, and how many chunks are chosen by chance."""

    mode: Mode
    seed: int
    sampled_chunks: int

    def regions(
        self, path: str, shape: tuple[int, ...], chunk_shape: tuple[int, ...], itemsize: int
    ) -> Iterator[Region]:
        """The regions of one array that are compared."""
        if self.mode == "full":
            return full_regions(shape, chunk_shape, itemsize)
        return sampled_regions(
            shape, chunk_shape, itemsize, seed=f"{self.seed}:{path}", sampled_chunks=self.sampled_chunks
        )


class Original(Protocol):
    """What references are compared with: a file that is open, or arrays."""

    def compare(self, references: References, tally: Tally, choice: Choice) -> None:
        """Compare all of it with the references, and report to the tally.

        Parameters
        ----------
        references : References
            The other side.
        tally : Tally
            Gets counts, differences, and what the references leave out by name.
        choice : Choice
            Which values are compared; everything else is compared always.
        """
        ...
