"""Documents of kerchunk's form, read as fsspec reads them."""

import pytest
from fsspec.implementations.reference import ReferenceFileSystem

from shadowzarr.errors import InvalidReferencesError
from shadowzarr.refs.kerchunk_form import listed_references
from shadowzarr.refs.kerchunk_templates import render

SPECIFICATION = {
    "version": 1,
    "templates": {"u": "server.domain/path", "f": "{{c}}"},
    "gen": [
        {
            "key": "gen_key{{i}}",
            "url": "http://{{u}}_{{i}}",
            "offset": "{{(i + 1) * 1000}}",
            "length": "1000",
            "dimensions": {"i": {"stop": 5}},
        },
        {
            "key": "x/{{i}}.{{j}}",
            "url": "http://{{f(c=j)}}",
            "dimensions": {"i": [0, 7], "j": {"start": 2, "stop": 6, "step": 3}},
        },
    ],
    "refs": {
        "key0": "data",
        "key1": ["http://target_url", 10000, 100],
        "key2": ["http://{{u}}", 10000, 100],
        "key3": ["http://{{f(c='text')}}", 10000, 100],
        "key4": ["http://target_url"],
        "key5": {"key": "value"},
    },
}


def test_the_example_of_the_specification_is_read_as_fsspec_reads_it():
    found = listed_references(SPECIFICATION, "it")
    theirs = ReferenceFileSystem(
        SPECIFICATION, simple_templates=False, target_protocol="memory", remote_protocol="memory"
    ).references
    assert found == theirs
    assert found["gen_key3"] == ["http://server.domain/path_3", 4000, 1000]
    assert found["key3"] == ["http://text", 10000, 100]


def test_keys_alone_are_version_0():
    assert listed_references({".zgroup": {"zarr_format": 2}, "x/0": ["f"]}, "it") == {
        ".zgroup": '{"zarr_format":2}',
        "x/0": ["f"],
    }


def test_without_templates_braces_are_part_of_a_url():
    assert listed_references({"refs": {"x": ["{{odd}}", 0, 1]}}, "it") == {"x": ["{{odd}}", 0, 1]}


@pytest.mark.parametrize(
    ("document", "reason"),
    [
        ([], "of type list"),
        ({"version": 1}, "refs is missing"),
        ({"version": 2, "refs": {}}, "load_rfs reads it"),
        ({"version": 3, "refs": {}}, "has version '3'"),
        ({"refs": {"x": 5}}, r"refs\['x'\] is 5"),
        ({"refs": {"x": ["f", -1, 5]}}, r"refs\['x'\]"),
        ({"refs": {"x": [None, 0, 5]}}, "names no file"),
        ({"refs": {"x": ["f", 0]}}, r"refs\['x'\]"),
        ({"refs": {}, "templates": {"u": 5}}, "templates hold"),
        ({"refs": {}, "gen": {}}, "gen is of type dict"),
        ({"refs": {}, "gen": [{}]}, r"gen\[0\] has no key"),
        ({"refs": {}, "gen": [{"key": "x", "url": "f", "offset": "1", "dimensions": {}}]}, "alone"),
        ({"refs": {}, "gen": [{"key": "x", "url": "f", "dimensions": {"i": 5}}]}, "expected a list, or stop"),
        ({"refs": {}, "gen": [{"key": "x", "url": "f", "dimensions": {"i": {"stop": 2**40}}}]}, "too many"),
        (
            {"refs": {}, "gen": [{"key": "x", "url": "f", "offset": "-1", "length": "1", "dimensions": {}}]},
            "whole numbers",
        ),
    ],
)
def test_what_is_no_document_is_named(document, reason):
    with pytest.raises(InvalidReferencesError, match=reason):
        listed_references(document, "it")


@pytest.mark.parametrize(
    "text",
    [
        "{{ ''.join(u) }}",
        "{{ u.upper() }}",
        "{{ u[0] }}",
        "{{ f('x') }}",
        "{{ f(c=[]) }}",
        "{{ u | upper }}",
        "{{ }}",
    ],
)
def test_what_could_run_code_is_refused(text):
    with pytest.raises(InvalidReferencesError, match=r"not understood|only integers"):
        render(text, {"u": "url", "f": "{{c}}"}, {})


def test_unknown_names_and_circles_are_refused():
    with pytest.raises(InvalidReferencesError, match="template 'v', but the document has u"):
        render("{{v}}", {"u": "url"}, {})
    with pytest.raises(InvalidReferencesError, match="refers to itself"):
        render("{{u}}", {"u": "{{u}}"}, {})
