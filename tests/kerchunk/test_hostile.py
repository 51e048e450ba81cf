"""Documents of kerchunk that are damaged or made to do harm: one clear error, or left out by name."""

import json

import numpy as np
import pytest

from shadowzarr import kerchunk_to_rfs, open_rfs
from shadowzarr.errors import InvalidReferencesError

GROUP = {"zarr_format": 2}
ARRAY = {"shape": [40], "chunks": [4], "dtype": "<i2", "fill_value": 9}
RULE = {"key": "x/{{i}}", "url": "f", "offset": "{{i}}", "length": "8"}


def rule(stop, **more):
    return {**RULE, "dimensions": {"i": {"stop": stop}}, **more}


@pytest.mark.parametrize(
    "gen",
    [
        [rule(10**15)],
        [rule(2**62)],
        [rule(2**20)] * 50,
        [{**RULE, "dimensions": {name: {"stop": 10**6} for name in "ijkl"}}],
    ],
)
def test_rules_for_too_many_references_are_refused_at_once(gen):
    with pytest.raises(
        InvalidReferencesError, match=r"stands for too many references; expected at most 2,097"
    ):
        kerchunk_to_rfs({"version": 1, "refs": {".zgroup": GROUP, "x/.zarray": ARRAY}, "gen": gen})


@pytest.mark.parametrize(
    ("part", "message"),
    [
        ({"offset": "{{i - 5}}"}, "gives offset '-5'"),
        ({"offset": "{{9 ** 9 ** 9}}"}, "only"),
        ({"offset": "{{" + "(" * 9000 + "1" + ")" * 9000 + "}}"}, "is not understood"),
        ({"url": "{{a}}"}, "refers to itself"),
        ({"url": "{{().__class__}}"}, "is not understood"),
    ],
)
def test_expressions_that_do_harm_are_refused(part, message):
    document = {
        "version": 1,
        "templates": {"a": "{{b}}", "b": "{{a}}"},
        "refs": {".zgroup": GROUP, "x/.zarray": ARRAY},
        "gen": [rule(3, **part)],
    }
    with pytest.raises(InvalidReferencesError, match=message):
        kerchunk_to_rfs(document)


@pytest.mark.parametrize("key", [".zattrs", "zarr.json", "x/.zarray"])
def test_metadata_that_are_nested_too_deep(key):
    text = '{"zarr_format":3,"node_type":"group","attributes":' + '{"a":' * 900 + "1" + "}" * 900 + "}"
    with pytest.raises(InvalidReferencesError, match="nested more than 100 deep"):
        kerchunk_to_rfs({"version": 1, "refs": {".zgroup": GROUP, key: text}})


def test_nodes_of_zarr_v3_that_are_wrong_are_left_out():
    group = {"zarr_format": 3, "node_type": "group"}
    refs = {"zarr.json": group, "a/zarr.json": {**group, "attributes": 5}, "b/zarr.json": group}
    refs |= {"c/zarr.json": {**group, "node_type": 5}, "d/zarr.json": {**group, "node_type": "array"}}
    rfs = kerchunk_to_rfs({"version": 1, "refs": refs})
    assert [entry["path"] for entry in rfs["skipped"]] == ["/a", "/c", "/d"]
    assert [name for name, _ in open_rfs(rfs).members()] == ["b"]


class TestParquet:
    @pytest.fixture
    def made(self, tmp_path):
        """Makes Parquet references of one array, of a table with some columns changed; None takes one out."""
        pandas = pytest.importorskip("pandas")
        (tmp_path / "bin").write_bytes(np.arange(40, dtype="<i2").tobytes())

        def make(zarray=ARRAY, rows=10, record_size=10, **columns):
            folder = tmp_path / "x.parq"
            (folder / "x").mkdir(parents=True)
            metadata = {".zgroup": GROUP, "x/.zarray": zarray}
            (folder / ".zmetadata").write_text(json.dumps({"metadata": metadata, "record_size": record_size}))
            usual = {
                "path": [str(tmp_path / "bin")] * rows,
                "offset": np.arange(rows) * 8,
                "size": np.full(rows, 8),
                "raw": [None] * rows,
            }
            table = {name: column for name, column in (usual | columns).items() if column is not None}
            pandas.DataFrame(table).to_parquet(folder / "x" / "refs.0.parq")
            return folder

        return make

    @pytest.mark.parametrize("kind", ["text", "bytes", "category"])
    def test_paths_of_any_kind(self, made, tmp_path, kind):
        import pandas

        name = str(tmp_path / "bin")
        paths = {
            "text": [name] * 10,
            "bytes": [name.encode()] * 10,
            "category": pandas.Categorical([name] * 10),
        }[kind]
        assert open_rfs(kerchunk_to_rfs(made(path=paths)))["x"][...].tolist() == list(range(40))

    @pytest.mark.parametrize(
        ("columns", "message"),
        [
            ({"offset": np.full(10, -5)}, "the column offset holds something else than whole numbers"),
            ({"size": np.full(10, -5)}, "the column size"),
            ({"offset": np.full(10, 0.5)}, "the column offset"),
            ({"offset": np.full(10, np.nan)}, "the column offset"),
            ({"offset": ["a"] * 10}, "the column offset"),
            ({"offset": np.full(10, 2**64 - 1, "u8")}, "the column offset"),
            ({"path": np.arange(10)}, "the column path holds something else than text"),
            ({"raw": np.arange(10)}, "the column raw"),
            ({"path": None}, "has the columns"),
            ({"size": None}, "has the columns"),
            ({"path": None, "raw": None, "offset": None, "size": None, "z": [1] * 10}, "none of these"),
            ({"rows": 3}, "has 3 rows; expected one for each of 10 chunks"),
            (
                {"zarray": {**ARRAY, "shape": [2**50], "chunks": [1]}, "record_size": 2**30},
                "expected one for each of",
            ),
            ({"zarray": {**ARRAY, "shape": [2**62] * 2, "chunks": [1, 1]}}, "which cannot be numbered"),
        ],
    )
    def test_tables_that_are_wrong_are_named(self, made, columns, message):
        """None of them shows fill values for chunks that are there."""
        with pytest.raises(InvalidReferencesError, match=message):
            kerchunk_to_rfs(made(**columns))

    def test_a_huge_grid_asks_for_no_table_that_is_not_there(self, made):
        zarray = {**ARRAY, "shape": [2**50], "fill_value": 7}
        rfs = kerchunk_to_rfs(made(zarray=zarray))
        assert open_rfs(rfs)["x"][:44].tolist() == [*range(40), 7, 7, 7, 7]
