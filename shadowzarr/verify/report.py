"""What verification found: counts, differences, what was left out, and which mappings were used.

Plain data that goes to JSON and back; how it is collected is the subject of ``tally``.
"""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import asdict, dataclass, field
from typing import Any, Literal, Self

from ..notebook import SummaryShown, folded, table, titled
from .mappings import MAPPINGS

Mode = Literal["sample", "full"]

COUNTED = ("groups", "arrays", "attributes", "links", "chunks", "bytes")
"""What a report counts: objects, attributes and links compared, chunks and bytes of values compared."""
_NOT_OF_ALL = ("attributes", "links")
"""What files of some formats have none of: said only where there are some."""


REPLACED = "replaced"
"""Kind of the one difference when the original is not the file that was indexed."""


@dataclass(frozen=True, slots=True)
class Difference:
    """One thing that the references say otherwise than the original.

    Attributes
    ----------
    path : str
        Of the object, absolute; an attribute's is ``"<object>@<attribute>"``.
    kind : str
        What differs: ``"missing"``, ``"extra"``, ``"shape"``, ``"values"``, …
    original, references : str
        Both sides, shortened.
    """

    path: str
    kind: str
    original: str
    references: str


@dataclass(frozen=True, slots=True)
class LeftOut:
    """One object that the document itself says it leaves out; neither equal nor a difference.

    Attributes
    ----------
    path : str
        As for `Difference`.
    kind : str
        ``"dataset"``, ``"attribute"``, ``"link"`` or ``"group"``.
    reason : str
        As the document gives it.
    """

    path: str
    kind: str
    reason: str


@dataclass(frozen=True, repr=False)
class VerificationReport(SummaryShown):
    """The result of comparing references with the file they describe.

    Attributes
    ----------
    mode : {"sample", "full"}
        Whether all values were compared, or those of some chunks.
    seed : int
        What chose the chunks in mode ``"sample"``.
    references, original : str
        What was compared, without query strings.
    counts : dict of str to int
        ``groups``, ``arrays``, ``attributes``, ``links``, ``chunks`` and ``bytes`` compared.
    differences : list of Difference
        In the order of the walk.
    left_out : list of LeftOut
        What the document says it leaves out.
    mappings : dict of str to int
        How often each row of `shadowzarr.verify.mappings.MAPPINGS` was relied on.
    """

    mode: Mode
    seed: int
    references: str = ""
    original: str = ""
    counts: dict[str, int] = field(default_factory=dict)
    differences: list[Difference] = field(default_factory=list)
    left_out: list[LeftOut] = field(default_factory=list)
    mappings: dict[str, int] = field(default_factory=dict)

    @property
    def equal(self) -> bool:
        """Whether there is no difference; what was left out does not count."""
        return not self.differences

    def _repr_html_(self) -> str:
        differences = [(each.path, each.kind, each.original, each.references) for each in self.differences]
        header = ("differs at", "kind", "original", "references")
        left = [(each.path, each.kind, each.reason) for each in self.left_out]
        return titled(
            f"VerificationReport: {self._verdict()}",
            table((name, f"{self.counts.get(name, 0):,}") for name in COUNTED),
            table(differences, header=header) if differences else "",
            folded(f"{len(left):,} left out", table(left)) if left else "",
        )

    def to_json(self) -> str:
        """The report as a JSON object, with ``equal`` beside the fields."""
        return json.dumps({"equal": self.equal, **asdict(self)}, indent=1, ensure_ascii=False)

    @classmethod
    def from_json(cls, text: str) -> Self:
        """Read what `to_json` wrote.

        Parameters
        ----------
        text : str
            A JSON object.

        Raises
        ------
        ValueError
            When the text is not such a report.
        """
        data = json.loads(text)
        if not isinstance(data, dict) or not {"mode", "seed", "differences"} <= set(data):
            raise ValueError("this is not a verification report")
        data.pop("equal", None)
        data["differences"] = [Difference(**entry) for entry in data["differences"]]
        data["left_out"] = [LeftOut(**entry) for entry in data.get("left_out", [])]
        return cls(**data)

    def summary(self, *, limit: int = 20) -> str:
        """The report as a few lines of text.

        Parameters
        ----------
        limit : int
            How many differences, and how many objects left out, to name.
        """
        replaced = self.replaced
        if replaced:
            return f"different: {replaced}"
        lines = [self._verdict(), self._counted()]
        lines += _listed("difference", [_difference_line(each) for each in self.differences], limit)
        lines += _listed("left out", [f"{each.path}: {each.reason}" for each in self.left_out], limit)
        if self.mappings:
            used = sorted(self.mappings.items(), key=lambda item: (-item[1], item[0]))
            lines.append("allowed by the convention:")
            lines += [f"  {count:>9,}  {MAPPINGS.get(name, name)}" for name, count in used]
        return "\n".join(lines)

    @property
    def replaced(self) -> str:
        """How the original is not the file that was indexed; empty when it is."""
        found = next((each for each in self.differences if each.kind == REPLACED), None)
        if found is None:
            return ""
        return (
            f"{self.original} is not the file that was indexed (it has {found.original}; when it was "
            f"indexed it had {found.references}); generate the references again"
        )

    def _verdict(self) -> str:
        compared = "all values" if self.mode == "full" else f"sampled chunks, seed {self.seed}"
        if self.equal:
            return f"equal ({compared})"
        kinds = Counter(each.kind for each in self.differences)
        number = f"{len(self.differences)} difference{'s' if len(self.differences) > 1 else ''}"
        named = ", ".join(f"{count} {kind}" for kind, count in kinds.most_common())
        return f"{number} ({compared}): {named}"

    def _counted(self) -> str:
        counts = {name: self.counts.get(name, 0) for name in COUNTED}
        found = [_number(count, name) for name, count in counts.items() if count or name not in _NOT_OF_ALL]
        *objects, chunks, nbytes = found
        values = f"{chunks}{'' if self.mode == 'full' else ', a choice of all'}"
        return f"compared {', '.join(objects)} (the root is a group), and {nbytes} of values in {values}"


def _number(count: int, plural: str) -> str:
    return f"{count:,} {plural.removesuffix('s') if count == 1 else plural}"


def _difference_line(difference: Difference) -> str:
    return (
        f"{difference.path}: {difference.kind}: "
        f"original {difference.original}, references {difference.references}"
    )


def _listed(heading: str, lines: list[str], limit: int) -> list[str]:
    shown = [f"{heading}: {line}" for line in lines[:limit]]
    if len(lines) > limit:
        shown.append(f"{heading}: and {len(lines) - limit:,} more")
    return shown


def short(value: Any, *, limit: int = 120) -> str:
    """A value's ``repr`` in one line of at most ``limit`` characters."""
    text = value if isinstance(value, Plain) else repr(value)
    text = " ".join(str(text).split()).encode("utf-8", "backslashreplace").decode("utf-8")
    return text if len(text) <= limit else f"{text[: limit - 1]}…"


class Plain(str):
    """Text that a report shows as it is, without quotes."""

    __slots__ = ()
