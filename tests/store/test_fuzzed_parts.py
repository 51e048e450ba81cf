"""Parts of documents that hypothesis makes up: errors of the library and no others, in bounded memory.

``HOSTILE_EXAMPLES`` is how many each test tries, 100 when it is not set. Whole documents that are changed at
random are in ``test_fuzzed_documents``.
"""

import asyncio
import contextlib
import json
import os
import shutil
import tracemalloc
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from shadowzarr.access.index_arrays import read_index
from shadowzarr.access.range_reader import default_reader
from shadowzarr.errors import ShadowzarrError
from shadowzarr.refs import gen, templates
from shadowzarr.refs.document import FORMAT_VERSION
from shadowzarr.store.index_reader import IndexReader
from shadowzarr.store.load_rfs import load_rfs, parse_document
from shadowzarr.store.locate import ChunkId, Locator

EXAMPLES = int(os.environ.get("HOSTILE_EXAMPLES", "100"))
MEMORY = 64 * 2**20
GOLDEN = Path(__file__).parents[1] / "golden" / "format-1" / "directory.shadowzarr"

many = settings(max_examples=EXAMPLES, deadline=None, suppress_health_check=list(HealthCheck), database=None)

WORDS = "i j 9 -1 {{ }} {{i}} {{u}} {{v}} c / // % + * ** - ( ) , . [ ] ~ = := lambda if __doc__ ' 1e9 9**9"
words = st.sampled_from(
    [*WORDS.split(), "{{ i }}", "9" * 50, "9" * 5000, "(" * 200, "-" * 300, "\0", "\n", "é", "\ud800", " "]
)
texts = st.one_of(st.lists(words, max_size=8).map("".join), st.text(max_size=20))
numbers = st.one_of(st.integers(-5, 5), st.sampled_from((2**31, 2**53, 2**63 - 1, 2**63, 2**64, 10**30)))
anything = st.recursive(
    st.one_of(st.none(), st.booleans(), numbers, st.floats(), texts),
    lambda inner: st.one_of(st.lists(inner, max_size=4), st.dictionaries(texts, inner, max_size=4)),
    max_leaves=8,
)


@contextlib.contextmanager
def bounded() -> Iterator[None]:
    """Errors of the library are right, any other is not, and neither is much memory."""
    tracemalloc.start()
    try:
        with contextlib.suppress(ShadowzarrError):
            yield
        assert tracemalloc.get_traced_memory()[1] < MEMORY
    finally:
        tracemalloc.stop()


@many
@given(texts, st.dictionaries(st.sampled_from(("i", "j")), numbers))
def test_expressions(text: str, values: dict[str, int]) -> None:
    with bounded():
        assert type(gen.evaluate(text, values)) is int


@many
@given(
    st.fixed_dictionaries(
        {
            "key": st.one_of(texts, texts.map("a/c/".__add__), st.just("a/c/{{i}}/{{j}}")),
            "url": texts,
            "dimensions": st.dictionaries(
                st.sampled_from(("i", "j")),
                st.one_of(
                    anything,
                    st.fixed_dictionaries({"stop": numbers}, optional={"start": numbers, "step": numbers}),
                ),
            ),
        },
        optional={"offset": st.one_of(texts, numbers), "length": st.one_of(texts, numbers)},
    ),
    st.tuples(st.integers(0, 9), st.integers(0, 9)),
)
def test_rules(entry: dict[str, Any], at: tuple[int, int]) -> None:
    """A rule that a document may hold gives places of chunks, or an error."""
    array = {"zarr_format": 3, "node_type": "array", "shape": [9, 9], "data_type": "uint8"}
    more = {
        "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": [1, 1]}},
        "chunk_key_encoding": {"name": "default"},
        "codecs": [{"name": "bytes"}],
        "fill_value": 0,
    }
    document = {
        "version": 2,
        "format": FORMAT_VERSION,
        "refs": {"a/zarr.json": json.dumps(array | more)},
        "gen": [entry],
    }
    with bounded():
        locator = Locator(load_rfs(document))
        found = locator.find(f"a/c/{at[0]}/{at[1]}")
        assert found is None or found.location is not None


@many
@given(texts, st.dictionaries(st.sampled_from(("i", "u", "v", "9")), texts))
def test_templates(text: str, names: dict[str, str]) -> None:
    with bounded():
        expanded = templates.expand(text, names)
        # Each is put in once: templates in templates do not multiply.
        assert len(expanded) <= len(text) * (1 + max(map(len, names.values()), default=0))
    with bounded():
        templates.expand_plain(text, names)


@many
@given(st.one_of(st.binary(max_size=200), anything.map(lambda value: json.dumps(value).encode())))
def test_any_bytes_as_a_document(data: bytes) -> None:
    with bounded():
        parse_document(data, "the document")


@many
@given(st.data())
def test_a_golden_document_with_changed_bytes(data: st.DataObject) -> None:
    original = bytearray((GOLDEN / "refs.json").read_bytes())
    for _ in range(data.draw(st.integers(1, 4))):
        at = data.draw(st.integers(0, len(original) - 1))
        original[at : at + data.draw(st.integers(0, 3))] = data.draw(st.binary(max_size=3))
    with bounded():
        load_rfs(parse_document(bytes(original), "the document"))


@pytest.fixture(scope="module")
def golden(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("golden") / "refs"
    shutil.copytree(GOLDEN, folder)
    return folder


def index_file(folder: Path) -> Path:
    return next(path for path in sorted((folder / "index").rglob("*")) if path.is_file() and path.name == "0")


@many
@given(st.data())
def test_index_files_with_changed_bytes(golden: Path, data: st.DataObject) -> None:
    """Blosc's header says sizes, so changes are mostly made there."""
    place = index_file(GOLDEN)
    changed = bytearray(place.read_bytes())
    for _ in range(data.draw(st.integers(1, 3))):
        at = data.draw(st.one_of(st.integers(0, 19), st.integers(0, len(changed) - 1)))
        changed[at : at + data.draw(st.integers(0, 4))] = data.draw(st.binary(max_size=4))
    (golden / place.relative_to(GOLDEN)).write_bytes(changed)
    read_all(golden)


@many
@given(st.data())
def test_an_index_that_is_described_otherwise(golden: Path, data: st.DataObject) -> None:
    shutil.copytree(GOLDEN / "index", golden / "index", dirs_exist_ok=True)
    document = json.loads((GOLDEN / "refs.json").read_text())
    (entry,) = document["indexes"].values()
    part = data.draw(st.sampled_from(sorted(entry["metadata"])))
    counts = st.lists(numbers, max_size=4)
    entry["metadata"][part] = data.draw(
        st.one_of(
            anything,
            counts,
            counts.map(lambda edges: {"name": "regular", "configuration": {"chunk_shape": edges}}),
        )
    )
    (golden / "refs.json").write_text(json.dumps(document))
    read_all(golden)
    shutil.copy(GOLDEN / "refs.json", golden / "refs.json")


def read_all(folder: Path) -> None:
    with bounded():
        rfs = load_rfs(folder)
        ((path, entry),) = rfs["indexes"].items()
        with contextlib.suppress(ShadowzarrError):
            read_index(entry)
        reader = IndexReader(rfs, Locator(rfs).layout, default_reader())
        for number in range(4):
            asyncio.run(reader.location(ChunkId(path, (number, 0))))
