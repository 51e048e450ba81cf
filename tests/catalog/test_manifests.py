"""Lists of files: what a line may hold, what it is called, and what is refused with its line."""

import json

import pytest

from shadowzarr.catalog.manifests import list_manifest, parse_manifest, read_manifest
from shadowzarr.catalog.request import ManifestRequest
from shadowzarr.errors import SourceNotFoundError, UsageError
from shadowzarr.testing import RangeServer

URL = "https://host.test/data/run%201/a%20b.tif"


def read(tmp_path, name, text):
    (tmp_path / name).write_text(text)
    return read_manifest(str(tmp_path / name))


@pytest.mark.parametrize("name", ["list", "list.txt", "list.tsv", "list.csv"])
def test_a_line_is_a_url_or_a_path(tmp_path, name):
    found = read(tmp_path, name, f"# what we have\n\n{URL}\nsub/c.h5\n../d.h5\n/data/e.h5\n")
    assert [(each.name, each.place) for each in found] == [
        ("a b.tif", URL),
        ("sub/c.h5", str(tmp_path / "sub" / "c.h5")),
        ("d.h5", str(tmp_path.parent / "d.h5")),
        ("e.h5", "/data/e.h5"),
    ]
    assert all(each.url == each.place and (each.size, each.etag) == (None, None) for each in found)


@pytest.mark.parametrize(("name", "between"), [("list.tsv", "\t"), ("list.csv", ",")])
def test_a_table_has_names_of_columns(tmp_path, name, between):
    rows = [["etag", "url", "Name", "size"], ['"abc"', URL, "run 1/a.tif", "12"], ["", "b.h5", "", ""]]
    first, second = read(tmp_path, name, "\n".join(between.join(row) for row in rows))
    assert (first.name, first.place, first.size, first.etag) == ("run 1/a.tif", URL, 12, '"abc"')
    assert (second.name, second.size, second.etag) == ("b.h5", None, None)


def test_json_is_a_list_of_either(tmp_path):
    entries = [URL, {"path": "b.h5", "size": 5}, {"url": "s3://bucket/c.h5", "name": "c", "etag": "abc"}]
    found = read(tmp_path, "list.json", json.dumps(entries))
    assert [(each.name, each.size, each.etag) for each in found] == [
        ("a b.tif", None, None),
        ("b.h5", 5, None),
        ("c", None, '"abc"'),
    ]


WRONG = {
    ("list.tsv", "a.h5\tb\n"): r"list\.tsv:1: found 2 columns, expected one; name the columns",
    ("list.tsv", "url\tsize\na\t1\tx\n"): r"list\.tsv:2: found 3 columns, expected 2",
    ("list.tsv", "url\tcolour\n"): r"list\.tsv:1: found the columns url, colour, expected url, path, name",
    ("list.tsv", "url\tsize\na\tlarge\n"): r"list\.tsv:2: the size is 'large'",
    ("list.tsv", "url\tpath\na\tb\n"): r"list\.tsv:2: found 2 places of a file",
    ("list.tsv", "name\turl\na\t\n"): r"list\.tsv:2: found 0 places of a file",
    ("list.tsv", "a.h5\nsub/../a.h5\n"): r"list\.tsv:2: the name 'a\.h5' is that of line 1 too",
    ("list.tsv", "ftp://host/a.h5\n"): r"list\.tsv:1: cannot read 'ftp://host/a\.h5'",
    ("list.tsv", "https://h/a?X-Amz-Signature=secret\n"): r"list\.tsv:1: https://h/a comes with a signature",
    ("list.tsv", "https://me:secret@h/a\n"): r"list\.tsv:1: https://h/a comes with a password",
    ("list.json", "{}"): r"list\.json holds no list",
    ("list.json", "[1]"): r"list\.json, entry 1: found 1",
    ("list.json", '[{"url": "a", "colour": 1}]'): r"list\.json, entry 1",
    ("list.json", "no"): r"list\.json is not JSON",
}


@pytest.mark.parametrize(("name", "text"), WRONG)
def test_what_is_wrong_is_told_with_its_line_and_without_secrets(tmp_path, name, text):
    with pytest.raises(UsageError, match=WRONG[name, text]) as caught:
        read(tmp_path, name, text)
    assert "secret" not in str(caught.value)


def test_what_is_no_text_or_not_there(tmp_path):
    (tmp_path / "list.tsv").write_bytes(b"\xff\xfe")
    with pytest.raises(UsageError, match="not UTF-8"):
        read_manifest(str(tmp_path / "list.tsv"))
    with pytest.raises(SourceNotFoundError):
        read_manifest(str(tmp_path / "other.tsv"))


def test_a_mark_at_the_start_is_no_part_of_the_first_name(tmp_path):
    (tmp_path / "list.csv").write_bytes("\ufeffurl,size\na.h5,3\n".encode())
    (entry,) = read_manifest(str(tmp_path / "list.csv"))
    assert (entry.name, entry.size) == ("a.h5", 3)


def test_quoted_cells_of_a_table():
    (entry,) = parse_manifest('url,name\n"a,b.h5","c"\n', "x.csv")
    assert (entry.url, entry.name) == ("a,b.h5", "c")


def test_a_list_behind_a_url_names_what_lies_beside_it(tmp_path):
    (tmp_path / "lists").mkdir()
    (tmp_path / "lists" / "all.txt").write_text("../a.bin\n")
    (tmp_path / "a.bin").write_bytes(bytes(77))
    with RangeServer(tmp_path) as server:
        (asset,) = list_manifest(ManifestRequest("all", server.url("lists/all.txt")))
        assert (asset.download_url, asset.size, asset.path) == (server.url("a.bin"), 77, "a.bin")
