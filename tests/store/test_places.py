import pytest

from shadowzarr.store.places import folder_of, inside, is_absolute, resolve


@pytest.mark.parametrize(
    ("folder", "name", "place"),
    [
        ("/data/x.shadowzarr", "index/a-1/c/0", "/data/x.shadowzarr/index/a-1/c/0"),
        ("https://h/x.shadowzarr/", "refs.json", "https://h/x.shadowzarr/refs.json"),
        ("https://h/x.shadowzarr?sas=1", "refs.json", "https://h/x.shadowzarr/refs.json?sas=1"),
        ("https://h/x", "a b#?%", "https://h/x/a%20b%23%3F%25"),
        ("s3://bucket/x", "refs.json", "s3://bucket/x/refs.json"),
    ],
)
def test_inside(folder, name, place):
    assert inside(folder, name) == place


@pytest.mark.parametrize(
    ("document", "folder"),
    [
        ("/data/x.json", "/data"),
        ("https://h/a/x.json?X-Amz-Signature=1#f", "https://h/a"),
        ("s3://bucket/a/x.json", "s3://bucket/a"),
    ],
)
def test_folder_of(document, folder):
    assert folder_of(document) == folder


@pytest.mark.parametrize(
    ("place", "folder", "absolute"),
    [
        ("raw.bin", "/data", "/data/raw.bin"),
        ("../raw.bin", "/data/x.shadowzarr", "/data/raw.bin"),
        ("/other/raw.bin", "/data", "/other/raw.bin"),
        ("https://h/raw.bin?a=1", "/data", "https://h/raw.bin?a=1"),
        ("file:///raw.bin", "/data", "file:///raw.bin"),
        ("../raw.bin", "https://h/a/x.shadowzarr", "https://h/a/raw.bin"),
        ("raw.bin", "s3://bucket/a", "s3://bucket/a/raw.bin"),
        ("a#b.bin", "https://h/a", "https://h/a/a%23b.bin"),
    ],
)
def test_resolve(place, folder, absolute):
    assert resolve(place, folder) == absolute


def test_names_that_look_like_schemes_are_relative():
    assert not is_absolute("c:0")
    assert not is_absolute("sub-01/a.nwb")
