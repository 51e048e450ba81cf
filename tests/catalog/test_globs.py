import pytest

from shadowzarr.catalog.globs import compile_glob, matches_any


@pytest.mark.parametrize(
    ("pattern", "path", "expected"),
    [
        ("**/*.nwb", "a.nwb", True),
        ("**/*.nwb", "sub-1/ses/a.nwb", True),
        ("**/*.nwb", "a.nwb.json", False),
        ("*.nwb", "sub-1/a.nwb", False),
        ("*.nwb", "a.nwb", True),
        ("sub-0?/*", "sub-01/x", True),
        ("sub-0?/*", "sub-010/x", False),
        ("sub-?", "sub-/", False),
        ("sub-1/**", "sub-1/a/b", True),
        ("sub-1/**", "sub-1", True),
        ("sub-1/**", "sub-10/a", False),
        ("**", "any/thing", True),
        ("sub-[12]/*", "sub-2/x", True),
        ("sub-[!12]/*", "sub-2/x", False),
        ("sub-[!12]/*", "sub-3/x", True),
        ("a[!b]c", "a/c", False),
        ("a+(b).nwb", "a+(b).nwb", True),
        ("a+(b).nwb", "aab.nwb", False),
        ("a[", "a[", True),
        ("a[]]", "a]", True),
        ("a.nwb", "axnwb", False),
        ("*", "line\nbreak", True),
    ],
)
def test_patterns(pattern, path, expected):
    assert bool(compile_glob(pattern).fullmatch(path)) is expected


def test_one_of_many_is_enough_and_none_is_not():
    assert matches_any("b.nwb", ["a.nwb", "b*"])
    assert not matches_any("b.nwb", [])
