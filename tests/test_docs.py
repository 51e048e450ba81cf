"""The pages in docs/ say what the code does, where a table can be compared with it."""

import json
import re
from pathlib import Path

import pytest

from shadowzarr.attributes.bytes_attributes import BYTES
from shadowzarr.attributes.non_finite import NON_FINITE
from shadowzarr.formats.hdf5.attr_conversion import RESERVED
from shadowzarr.refs import chunk_index, document, gen
from shadowzarr.verify import MAPPINGS

ROOT = Path(__file__).resolve().parents[1]
FORMAT = (ROOT / "docs" / "format.md").read_text(encoding="utf-8")


def test_every_key_of_a_document_is_described() -> None:
    described = set(re.findall(r"^\| `(\w+)` \|", FORMAT.partition("## `refs`")[0], re.MULTILINE))
    assert described == set(document.Rfs.__annotations__)


def test_versions_and_requirements_are_those_of_the_code() -> None:
    assert f"format **{document.FORMAT_VERSION}**" in FORMAT
    for requirement in document.KNOWN_REQUIREMENTS:
        assert f"## `{requirement}`" in FORMAT


@pytest.mark.parametrize("convention", [BYTES, NON_FINITE])
def test_conventions_are_named_by_their_identifiers(convention: object) -> None:
    assert f"`{convention.uuid}`" in FORMAT
    assert f"`{convention.name}`" in FORMAT


def test_allowed_differences_are_those_of_verification() -> None:
    rows = dict(
        re.findall(r"^\| `(\w+)` \| (.*) \|$", FORMAT.partition("## What verification")[2], re.MULTILINE)
    )
    assert rows == MAPPINGS


def test_reserved_attributes_are_named() -> None:
    for name in RESERVED:
        assert f"`{name}`" in FORMAT


def test_the_example_rule_and_grid_are_right() -> None:
    example = re.search(r'\{"key": .*?\}\}\}', FORMAT, re.DOTALL)[0]
    entry = json.loads(example)
    location = gen.location_at(entry, {"u0": "http://h/f"}, (2,))
    assert (location.url, location.offset, location.length) == ("http://h/f", 2048 + 2 * 4194304, 4194304)
    assert gen.location_at(entry, {"u0": "http://h/f"}, (58,)) is None
    assert chunk_index.index_chunk_shape((2048, 160)) == (409, 160, 2)
    assert "(409, 160, 2)" in FORMAT


@pytest.mark.parametrize(
    ("expression", "value"), [("7 // 2", 3), ("-7 // 2", -4), ("-7 % 3", 2), ("(1 + 2) * -i", -15)]
)
def test_the_grammar_is_what_is_evaluated(expression: str, value: int) -> None:
    assert gen.evaluate(expression, {"i": 5}) == value


@pytest.mark.parametrize("page", ["README.md", "CHANGELOG.md", "docs/format.md", "docs/pipeline.md"])
def test_links_between_pages_lead_somewhere(page: str) -> None:
    text = (ROOT / page).read_text(encoding="utf-8")
    for link in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", text):
        assert ((ROOT / page).parent / link).exists(), link
