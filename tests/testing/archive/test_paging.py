"""Pages, filters and orders, without a server."""

import pytest

from shadowzarr.testing.archive.api_errors import ApiError, BadParameterError
from shadowzarr.testing.archive.paging import flag, glob_pattern, page_of, page_size

URL = "http://host/api/x/"


@pytest.mark.parametrize(
    ("text", "size"),
    [(None, 100), ("7", 7), ("1000", 1000), ("5000", 1000), ("0", 100), ("-1", 100), ("x", 100), ("٣", 100)],
)
def test_page_size(text, size):
    assert page_size(text) == size


def test_middle_page():
    page = page_of(range(10), URL, {"page": "2", "page_size": "3", "glob": "a b*"})
    assert (page.items, page.count) == ([3, 4, 5], 10)
    assert page.next == f"{URL}?glob=a+b%2A&page=3&page_size=3"
    assert page.previous == f"{URL}?glob=a+b%2A&page_size=3"


def test_only_page():
    page = page_of(range(3), URL, {})
    assert page.document(str) == {"count": 3, "next": None, "previous": None, "results": ["0", "1", "2"]}


def test_second_page_leads_back_to_the_plain_address():
    assert page_of(range(101), URL, {"page": "2"}).previous == URL


@pytest.mark.parametrize("number", ["0", "-1", "x", "3"])
def test_pages_that_do_not_exist(number):
    with pytest.raises(ApiError) as caught:
        page_of(range(4), URL, {"page": number, "page_size": "2"})
    assert caught.value.response.status == 404


def test_counted_once():
    query = {"page": "2", "page_size": "2"}
    assert page_of(range(4), URL, query, is_counted_once=True).count is None
    beyond = page_of(range(4), URL, {**query, "page": "9"}, is_counted_once=True)
    assert (beyond.items, beyond.next) == ([], None)
    with pytest.raises(ApiError):
        page_of(range(4), URL, {**query, "page": "0"}, is_counted_once=True)


def test_empty_listing_has_one_page():
    assert page_of([], URL, {}).items == []


@pytest.mark.parametrize(
    ("glob", "path", "matches"),
    [
        ("*.nwb", "a/b.NWB", True),
        ("a*c", "a/b/c", True),
        ("a?c", "abc", False),
        ("a[b]", "ab", False),
        ("a[b]", "a[b]", True),
        ("a", "ab", False),
    ],
)
def test_glob(glob, path, matches):
    assert bool(glob_pattern(glob).fullmatch(path)) == matches


def test_flags():
    assert flag({"x": "TRUE"}, "x", default=False)
    assert not flag({"x": "0"}, "x", default=True)
    assert flag({"x": ""}, "x", default=True)
    with pytest.raises(BadParameterError):
        flag({"x": "perhaps"}, "x", default=True)
