import copy

import numpy as np
import pytest

from shadowzarr.errors import InvalidReferencesError
from shadowzarr.store.check_document import check_document

ARRAY = '{"node_type":"array"}'
GOOD = {
    "version": 2,
    "format": 1,
    "requires": ["indexes", "gen", "selections"],
    "templates": {"u0": "raw.bin"},
    "refs": {
        "zarr.json": "{}",
        "a/zarr.json": ARRAY,
        "a/c/0": ["{{u0}}", 0, 4],
        "a/c/1": ["whole.bin"],
        "a/c/2": "base64:",
        "b/zarr.json": {"node_type": "group"},
    },
    "gen": [{"key": "a/c/{{i}}", "url": "{{u0}}", "dimensions": {"i": {"stop": 3}}}],
    "indexes": {"a": {"url": "raw.bin", "index": "index/a", "metadata": {}}},
    "selections": {"a": {"record_size": 4, "keep": [[0, 2]]}},
    "sources": {"raw.bin": {"size": 8, "etag": '"x"'}},
    "skipped": [],
    "a key of later times": 1,
}


def test_a_good_document_passes():
    check_document(GOOD, "doc")
    check_document({"version": 1, "refs": {}}, "doc")
    in_memory = copy.deepcopy(GOOD)
    in_memory["indexes"]["a"] = {"url": "raw.bin", "index": np.zeros((3, 2), dtype=np.uint64)}
    check_document(in_memory, "doc")


BAD = [
    ("version", None, r"has version None.*expected version 1 or 2"),
    ("version", 3, "has version 3"),
    ("version", "1", "has version '1'"),
    ("version", True, "has version True"),
    ("format", 2, "format 2.*reads up to 1. Update"),
    ("format", "1", "format '1'"),
    ("requires", ["gen", "mirrors"], "requires 'mirrors'.*Update"),
    ("requires", "gen", "requires is of type str"),
    ("refs", None, "refs is missing"),
    ("refs", [], "refs is of type list"),
    ("templates", [], "templates is of type list"),
    ("templates", {"u0": 1}, "templates hold something else"),
    ("sources", {"raw.bin": {"etag": "x"}}, r"sources\['raw.bin'\]"),
    ("sources", {"raw.bin": 8}, r"sources\['raw.bin'\]"),
    ("gen", {}, "gen is of type dict; expected a list"),
    ("gen", [7], r"gen\[0\] is of type int"),
    ("gen", [{"key": "a/c/{{i}}", "url": "u"}], r"gen\[0\] has dimensions None"),
    ("gen", [{**GOOD["gen"][0], "dimensions": {"i": [1, 2]}}], r"gen\[0\]: dimensions\['i'\]"),
    ("gen", [{**GOOD["gen"][0], "offset": "0"}], r"gen\[0\] has one of offset and length"),
    ("gen", [{**GOOD["gen"][0], "key": "a/{{i}}"}], "the key is not"),
    ("gen", [{**GOOD["gen"][0], "key": "no/c/{{i}}"}], r"gen\[0\] is for '/no', which refs does not hold"),
    ("indexes", {"a": "index/a"}, r"indexes\['a'\]"),
    ("indexes", {"a": {"url": "u"}}, r"indexes\['a'\]: index is None"),
    ("indexes", {"a": {"url": "u", "index": np.zeros((3, 2))}}, "float64"),
    ("indexes", {"a": {"url": "u", "index": "i", "metadata": []}}, "metadata is of type list"),
    ("indexes", {"no": {"url": "u", "index": "i"}}, "'/no'"),
    ("selections", {"a": {"record_size": 4, "keep": [[0, 5]]}}, r"selections\['a'\]"),
    ("selections", {"a": {"keep": [[0, 5]]}}, r"selections\['a'\]"),
    ("selections", {"no": {"record_size": 4, "keep": [[0, 2]]}}, "'/no'"),
]


@pytest.mark.parametrize(("part", "value", "message"), BAD)
def test_bad_parts_are_named(part, value, message):
    with pytest.raises(InvalidReferencesError, match=message) as caught:
        check_document({**GOOD, part: value}, "doc")
    assert str(caught.value).startswith("doc") or "gen entry" in str(caught.value)


@pytest.mark.parametrize(
    "reference",
    [
        None,
        7,
        [],
        [""],
        ["u", 1],
        ["u", 1, 2, 3],
        ["u", -1, 2],
        ["u", 1, "2"],
        ["u", 1.0, 2],
        [1, 2, 3],
        ["u", True, 1],
    ],
)
def test_bad_references_are_named(reference):
    refs = {**GOOD["refs"], "a/c/7": reference}
    with pytest.raises(InvalidReferencesError, match=r"doc: refs\['a/c/7'\] is .*expected text, \[url\]"):
        check_document({**GOOD, "refs": refs}, "doc")


def test_keys_with_a_leading_slash_would_never_be_found():
    with pytest.raises(InvalidReferencesError, match=r"refs\['/a/c/0'\] begins with a slash"):
        check_document({**GOOD, "refs": {**GOOD["refs"], "/a/c/0": "x"}}, "doc")


def test_what_is_no_object_at_all():
    for document in ([], None, "refs"):
        with pytest.raises(InvalidReferencesError, match="expected an object"):
            check_document(document, "doc")


def test_zarr_v2_is_refused_with_its_name():
    with pytest.raises(InvalidReferencesError, match="Zarr v2"):
        check_document({"version": 1, "refs": {".zgroup": "{}", "a/.zarray": "{}"}}, "doc")
