"""States of assets, from records and lists of what was passed over."""

import orjson
import pytest

from shadowzarr.catalog.site.site_data import LARGEST_PART, OVERVIEW, site_files
from shadowzarr.catalog.site.site_rows import COLUMNS, merged_rows, read_passed_over
from shadowzarr.errors import InvalidReferencesError


def recorded(path="a.nwb", **changes):
    row = dict.fromkeys(COLUMNS) | {
        "dandiset": "000001", "version": "draft", "path": path, "url": "https://x.test/a", "size": 10,
        "outcome": "indexed", "references": f"dandisets/{path}.shadowzarr", "references_bytes": 5,
    }  # fmt: skip
    return row | changes


FAILED = {"outcome": "failed", "references": None, "references_bytes": 0, "problem": "index: it is cut"}


def passed_over(path="a.nwb", reason="excluded", detail="", **changes):
    row = {"dandiset": "000001", "version": "draft", "path": path, "asset_id": "i", "size": 7}
    return row | {"reason": reason, "detail": detail} | changes


@pytest.mark.parametrize(
    ("records", "skipped", "state", "problem"),
    [
        ([recorded()], [], "indexed", None),
        ([recorded(outcome="partial")], [], "partial", None),
        ([recorded(**FAILED)], [], "failed", "index: it is cut"),
        ([recorded(), recorded(**FAILED)], [], "stale", "a later file failed; index: it is cut"),
        ([recorded()], [passed_over(reason="quarantined", detail="May")], "stale", "quarantined: May"),
        ([recorded()], [passed_over(reason="no ETag yet")], "stale", "no ETag yet"),
        ([recorded()], [passed_over(reason="excluded")], "indexed", None),
        ([], [passed_over(reason="already Zarr", detail="the asset is a Zarr store")], "skipped",
         "already Zarr: the asset is a Zarr store"),
    ],
)  # fmt: skip
def test_the_state_of_an_asset(records, skipped, state, problem):
    (row,) = merged_rows(records, skipped)
    assert (row["state"], row["problem"]) == (state, problem)
    assert set(row) >= set(COLUMNS)
    assert row["references_bytes"] == (5 if state not in ("failed", "skipped") else None)


def test_assets_are_in_order_and_their_texts_are_cut():
    long = recorded("b.nwb", session_description="x" * 5000, types=["T"] * 500)
    rows = merged_rows([long, recorded("a.nwb", dandiset="000002")], [passed_over("a.zarr")])
    assert [(row["dandiset"], row["path"]) for row in rows] == [
        ("000001", "a.zarr"),
        ("000001", "b.nwb"),
        ("000002", "a.nwb"),
    ]
    assert len(rows[1]["session_description"]) == 300
    assert rows[1]["session_description"].endswith("…")
    assert len(rows[1]["types"]) == 64


def test_a_path_of_the_machine_that_indexed_is_not_shown():
    urls = ["/data/lab/a.nwb", "file:///data/a.nwb", "javascript:alert(1)", "s3://b/a", "http://x.test/a"]
    rows = merged_rows([recorded(f"{n}.nwb", url=url) for n, url in enumerate(urls)], [])
    assert [row["url"] for row in rows] == [None, None, None, "s3://b/a", "http://x.test/a"]


def test_embargoed_assets_of_a_list_are_left_out_and_a_damaged_one_is_named():
    lists = [passed_over(private=False), passed_over("secret.nwb", private=True)]
    assert [each["path"] for each in read_passed_over(orjson.dumps(lists), "l.json")] == ["a.nwb"]
    for content in (b"{", b'[{"path": "a"}]', b"[1]", b"3"):
        with pytest.raises(InvalidReferencesError, match=r"l\.json"):
            read_passed_over(content, "l.json")


def test_rows_are_put_into_parts_that_are_small_enough_and_give_the_rows_again():
    values = {"species": "S", "types": ["A", "B"], "session_description": "d" * 280}
    rows = merged_rows([recorded(f"{n:05}.nwb", **values) for n in range(4000)], [])
    files = site_files(rows, page_files=["p.js"], report=None)
    overview = orjson.loads(files.pop(OVERVIEW))
    assert len(files) > 1
    assert all(len(content) <= LARGEST_PART for content in files.values())
    assert [part["file"] for part in overview["parts"]] == list(files)
    assert sum(part["rows"] for part in overview["parts"]) == overview["assets"] == 4000
    found = [row for part in overview["parts"] for row in _rows(files[part["file"]], part["rows"])]
    assert found == [{name: row[name] for name in COLUMNS} for row in rows]
    assert overview["types"] == [["A", 4000], ["B", 4000]]
    (dandiset,) = overview["dandisets"]
    assert dandiset["states"] == {"indexed": 4000}
    assert dandiset["size"] == 40_000


def test_no_assets_are_a_site_too():
    files = site_files([], page_files=[], report="report.html")
    assert orjson.loads(files[OVERVIEW])["parts"] == [{"file": "assets-0.json", "rows": 0}]


def _rows(content, count):
    """As the page reads them."""
    columns = orjson.loads(content)

    def value(column, number):
        if isinstance(column, list):
            return column[number]
        code = column["codes"][number]
        if isinstance(code, list):
            return [column["values"][each] for each in code]
        return None if code is None else column["values"][code]

    return [{name: value(column, number) for name, column in columns.items()} for number in range(count)]
