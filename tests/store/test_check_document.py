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


def rule(**changes):
    return {**GOOD["gen"][0], **changes}


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
    ("selections", {"a": {"record_size": 4.5, "keep": [[0, 2]]}}, r"selections\['a'\]"),
    ("selections", {"a": {"record_size": 4, "keep": [["0", 2]]}}, r"selections\['a'\]"),
    ("selections", {"a": {"record_size": 2**80, "keep": [[0, 2]]}}, r"selections\['a'\]"),
    ("gen", [rule(dimensions={"i": {"stop": -1}})], r"dimensions\['i'\] is .*a stop"),
    ("gen", [rule(dimensions={"i": {"stop": True}})], "a stop"),
    ("gen", [rule(dimensions={"i": {"stop": 2**63}})], "a stop"),
    ("gen", [rule(dimensions={"i": {"stop": 3, "start": -1}})], r"dimensions\['i'\] has start -1"),
    ("gen", [rule(dimensions={"i": {"stop": 3, "start": "0"}})], "has start '0'"),
    ("gen", [rule(dimensions={"i": {"stop": 3, "step": 0}})], "has step 0; expected a number from 1 on"),
    ("gen", [rule(dimensions={"i": {"stop": 3, "step": -1}})], "has step -1"),
    ("gen", [rule(dimensions={"i": {"stop": 3, "step": 1.0}})], "has step 1.0"),
    ("gen", [rule(dimensions={"j": {"stop": 3}})], "its key uses 'i', which is none of its dimensions"),
    ("gen", [rule(dimensions={"i": {"stop": 3}, "j": {"stop": 3}})], "does not use 'j'"),
    ("gen", [rule(offset=[0], length=4)], r"has offset \[0\]"),
    ("gen", [rule(offset=2**63, length=4)], "has offset 9223372036854775808"),
    ("gen", [rule(offset="{{i - 1}}", length="4")], "gives offset -1"),
    ("gen", [rule(offset="{{k}}", length="4")], "only integers, i"),
    ("gen", [rule(url="http://[")], r"gen\[0\]: 'http://\[' is no URL"),
    ("indexes", {"a": {"url": "http://h:x/", "index": "i"}}, "is no URL"),
    ("indexes", {"a": {"url": "u", "index": "http://["}}, "is no URL"),
    (
        "indexes",
        {"a": {"url": "u", "index": "i", "metadata": {"shape": [1, 2]}}},
        "metadata: the array has no",
    ),
    ("sources", {"http://[": {"size": 1}}, "is no URL"),
    ("sources", {"raw.bin": {"size": -1}}, "a size"),
    ("sources", {"raw.bin": {"size": 2**63}}, "a size"),
    ("sources", {"raw.bin": {"size": 1, "etag": 7}}, "etag 7"),
    ("templates", {"u0": "https://[::1"}, "is no URL"),
    ("templates", "u0", "templates is of type str"),
    ("skipped", {}, "skipped is of type dict; expected a list"),
    ("skipped", ["a"], r"skipped\[0\] is 'a'; expected an object with path and kind and reason"),
    ("skipped", [{"path": "/a", "kind": "group"}], r"skipped\[0\]"),
    ("converted", [{"path": "/a", "what": 1}], r"converted\[0\].*path and what"),
    ("inline_files", "a.bin", "inline_files is of type str"),
    ("inline_files", [1], r"inline_files\[0\] is 1"),
    ("hdf5", [], "hdf5 is of type list"),
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
        ["u", 2**63, 1],
        ["u", 1, 2**63],
        ["u", 2**62, 2**62],
        ["u", 1, -2],
        ["u", 1e30, 2],
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


def test_a_reference_whose_url_cannot_be_taken_apart():
    with pytest.raises(InvalidReferencesError, match=r"doc: 'http://\[' is no URL: Invalid IPv6 URL"):
        check_document({**GOOD, "refs": {**GOOD["refs"], "a/c/7": ["http://[", 0, 1]}}, "doc")


def test_null_is_the_same_as_nothing():
    parts = (
        "requires",
        "templates",
        "gen",
        "indexes",
        "selections",
        "sources",
        "skipped",
        "converted",
        "hdf5",
    )
    check_document({**GOOD, "refs": {}, **dict.fromkeys(parts)}, "doc")


def test_a_wrong_number_of_any_length_can_be_told():
    with pytest.raises(InvalidReferencesError, match="of type int"):
        check_document({**GOOD, "version": 10**6000}, "doc")
