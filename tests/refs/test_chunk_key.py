import pytest
from hypothesis import given
from hypothesis import strategies as st

from shadowzarr.refs.chunk_key import chunk_key, metadata_key, parse_chunk_key


@pytest.mark.parametrize(
    ("path", "coordinates", "key"),
    [
        ("a/b", (0, 3), "a/b/c/0/3"),
        ("", (1,), "c/1"),
        ("scalar", (), "scalar/c"),
        ("", (), "c"),
        ("c", (0,), "c/c/0"),
        ("x/c/0", (), "x/c/0/c"),
        ("x/c/0", (2,), "x/c/0/c/2"),
    ],
)
def test_key_and_back(path, coordinates, key):
    assert chunk_key(path, coordinates) == key
    assert parse_chunk_key(key) == (path, coordinates)


@pytest.mark.parametrize(
    "key", ["zarr.json", "a/zarr.json", "a/c/x", "a/c/01", "a/c/-1", "a/c/١", "", "a/0/1"]
)
def test_other_keys_are_no_chunk_keys(key):
    assert parse_chunk_key(key) is None


def test_metadata_key_of_the_root_and_of_a_node():
    assert metadata_key("") == "zarr.json"
    assert metadata_key("a/b") == "a/b/zarr.json"


@given(
    st.lists(st.sampled_from(["a", "c", "0", "1x", "zarr.json"]), max_size=4), st.lists(st.integers(0, 99))
)
def test_every_key_is_parsed_as_it_was_made(parts, coordinates):
    path = "/".join(parts)
    assert parse_chunk_key(chunk_key(path, tuple(coordinates))) == (path, tuple(coordinates))
