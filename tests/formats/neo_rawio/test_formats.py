"""Every format, in several variants: written from its definition, equal to NEO's read, and the page of it.

What of it is referenced, and what is not and why, is what docs/electrophysiology.md shows;
``make docs-tables`` writes the page anew.
"""

import contextlib
import functools
import os
import re
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import mearec_stand_in
import pytest
import recordings_by_hand as hand
from neo import rawio
from neo_features import FEATURES, without_folder, words
from neo_reading import assert_same

from shadowzarr.errors import ShadowzarrError
from shadowzarr.formats.neo_rawio.layouts import REFUSED

PAGE = Path(__file__).resolve().parents[3] / "docs" / "electrophysiology.md"

TESTED = {feature.reader for feature in FEATURES} | {"AxonRawIO"}
"""Readers whose recordings are compared; those of Axon are real ones, in test_corpus.py."""

mearec_stand_in.install()


def identifiers() -> list[str]:
    counts: dict[str, int] = {}
    found = []
    for feature in FEATURES:
        stem = re.sub(r"[^a-z0-9]+", "-", feature.title.lower())
        counts[stem] = counts.get(stem, 0) + 1
        found.append(f"{stem}-{counts[stem]:02}")
    return found


NAMES = dict(zip(identifiers(), FEATURES, strict=True))


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("recordings")


@pytest.mark.parametrize("name", NAMES)
def test_format(name: str, folder: Path) -> None:
    stored, left_out = produced(name, folder)
    feature = NAMES[name]
    assert stored or left_out
    assert feature.refused in left_out
    assert bool(feature.refused) == bool(left_out)
    assert "\n" not in left_out


@functools.cache
def produced(name: str, folder: Path) -> tuple[str, str]:
    """How a recording is stored, and what is left out and why, after it was compared with NEO."""
    feature = NAMES[name]
    place = folder / name
    place.mkdir()
    arguments = feature.make(place, **feature.options)
    reader = getattr(rawio, feature.reader)(**arguments)
    try:
        with _quiet():
            rfs = assert_same(reader, left_out=None)
    except ShadowzarrError as error:
        message = str(error)
        return "", without_folder(message, place)
    skipped = {entry["path"]: entry["reason"] for entry in rfs.get("skipped", [])}
    reasons = [f"`{path.strip('/')}`: {without_folder(reason, place)}" for path, reason in skipped.items()]
    return words(rfs), "; ".join(reasons)


@contextlib.contextmanager
def _quiet() -> Iterator[None]:
    """Without what NEO warns of on the way."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


def test_each_reader_that_is_promised_is_tested() -> None:
    promised = (
        "SpikeGLX OpenEphysBinary OpenEphys Axon BrainVision Elan Micromed NeuroNexus NeuroScope RawMCS "
        "RawBinarySignal WinEdr WinWcp Maxwell Blackrock SpikeGadgets Intan Neuralynx EDF MEArec Biocam"
    )
    assert {f"{name}RawIO" for name in promised.split(" ")} <= TESTED


def test_each_reader_of_neo_is_referenced_or_refused_by_name() -> None:
    readers = {kind.__name__ for kind in rawio.rawiolist}
    assert readers - TESTED - set(REFUSED) == set()
    assert not TESTED & set(REFUSED)


def test_the_example_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("Noise4Sam_g0").mkdir()
    hand.spikeglx(Path("Noise4Sam_g0"))
    example = re.search(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)[1]
    found: dict[str, Any] = {}
    exec(compile(example, PAGE.name, "exec"), found)
    assert (found["raw"] == hand.signal(300, 385)[:, :384]).all()
    assert found["synchronisation"]["columns"] == {"start": 384, "stop": 385}


def tables(folder: Path) -> dict[str, str]:
    lines = ["| format | recording | how it is stored | left out, and why | test |", "|---|---|---|---|---|"]
    for name, feature in NAMES.items():
        cells = (feature.title, feature.what, *(cell or "–" for cell in produced(name, folder)), f"`{name}`")
        lines.append(f"| {' | '.join(_cell(cell) for cell in cells)} |")
    refused = ["| reader of NEO | why nothing is referenced |", "|---|---|"]
    refused += [f"| `{reader}` | {_cell(reason)} |" for reader, reason in REFUSED.items()]
    return {"Formats": "\n".join(lines), "Refused": "\n".join(refused)}


def _cell(text: str) -> str:
    return re.sub(r"\s+", " ", text).replace("|", "\\|")


def test_the_page_shows_what_these_tests_produce(folder: Path) -> None:
    text = written = PAGE.read_text(encoding="utf-8")
    for topic, table in tables(folder).items():
        start, end = f"<!-- table: {topic} -->\n", "\n<!-- end -->"
        head, mark, rest = written.partition(start)
        assert mark, f"docs/electrophysiology.md has no table {topic!r}"
        written = head + start + table + end + rest.partition(end)[2]
    if os.environ.get("WRITE_DOCS") == "1":
        PAGE.write_text(written, encoding="utf-8")
    assert written == text or os.environ.get("WRITE_DOCS") == "1", f"{PAGE.name} is old: run make docs-tables"
