"""What a run is said to do, and with what, by its flow: each sentence about runs is written once."""

from __future__ import annotations

from dataclasses import dataclass

from ..formatting import format_count


@dataclass(frozen=True)
class RunWords:
    """The words of one kind of run.

    Attributes
    ----------
    noun, verb : str
        Such as "asset" and "index".
    collections : str
        What the things come from that are of no dandiset.
    """

    noun: str = "asset"
    verb: str = "index"
    collections: str = "folders and manifests"

    @property
    def nouns(self) -> str:
        """Several of them."""
        return f"{self.noun}s"

    @property
    def done(self) -> str:
        """What was done to them."""
        return f"{self.verb}ed"

    @property
    def doing(self) -> str:
        """What is being done to them."""
        return f"{self.verb}ing"

    def counted(self, number: int) -> str:
        """So many of them."""
        return format_count(number, self.noun)


def words_of(flow: str) -> RunWords:
    """The words of a flow."""
    return RunWords("recording", "convert", "collection") if flow == "convert_recordings" else RunWords()
