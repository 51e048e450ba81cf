"""Reading through a `LocalCache`, counted in requests."""

import numpy as np
import pytest

from shadowzarr import LocalCache, RfsBuilder, open_rfs
from shadowzarr.errors import SourceChangedError
from shadowzarr.testing import RangeServer
from shadowzarr.testing.range_server import content_etag


@pytest.fixture
def server(tmp_path):
    folder = tmp_path / "served"
    folder.mkdir()
    with RangeServer(folder) as running:
        yield running


@pytest.fixture
def cache(tmp_path):
    return LocalCache(tmp_path / "cache")


def made(server, *, number=300, nbytes=2000, seed=1, has_etag=True):
    data = np.random.default_rng(seed).integers(0, 255, number * nbytes, dtype=np.uint8)
    path = server.folder / "raw.bin"
    path.write_bytes(data.tobytes())
    builder = RfsBuilder()
    builder.add_group("")
    builder.add_array("x", shape=[data.size], data_type="uint8", chunk_shape=[nbytes])
    for i in range(number):
        builder.add_chunk("x", (i,), server.url("raw.bin"), i * nbytes, nbytes)
    etag = f'"{content_etag(path)}"' if has_etag else None
    builder.add_source(server.url("raw.bin"), data.size, etag)
    return builder.build(), data


def test_the_second_session_asks_for_nothing(server, cache):
    rfs, data = made(server)
    np.testing.assert_array_equal(open_rfs(rfs, local_cache=cache)["x"][:], data)
    assert len(server.log) == 1  # merged as without a cache
    again = LocalCache(cache.path.parent)
    np.testing.assert_array_equal(open_rfs(rfs, local_cache=again)["x"][:], data)
    np.testing.assert_array_equal(open_rfs(rfs, local_cache=again)["x"][777:123_456], data[777:123_456])
    assert len(server.log) == 1


def test_only_what_is_missing_is_asked_for(server, cache):
    rfs, data = made(server)
    array = open_rfs(rfs, local_cache=cache)["x"]
    np.testing.assert_array_equal(array[200_000:400_000], data[200_000:400_000])
    server.log.clear()
    np.testing.assert_array_equal(array[:], data)
    assert server.log.bytes_sent == 400_000
    assert len(server.log) == 2


@pytest.mark.parametrize("merging", [{}, {"max_merge_size": 0}])
def test_large_chunks_are_kept_too(server, cache, merging):
    rfs, data = made(server, number=8, nbytes=100_000)
    for _ in range(2):
        np.testing.assert_array_equal(open_rfs(rfs, local_cache=cache, **merging)["x"][:], data)
    assert len(server.log) == 8
    array = open_rfs(rfs, local_cache=cache, **merging)["x"]
    np.testing.assert_array_equal(array[150_000:150_010], data[150_000:150_010])
    assert len(server.log) == 8


def test_a_replaced_file_never_gets_old_bytes(server, cache):
    old, data = made(server)
    np.testing.assert_array_equal(open_rfs(old, local_cache=cache)["x"][:1000], data[:1000])
    new, other = made(server, seed=2)
    np.testing.assert_array_equal(open_rfs(new, local_cache=cache)["x"][:1000], other[:1000])
    # What is kept is of the file that the old references describe; what is not, cannot be had any more.
    np.testing.assert_array_equal(open_rfs(old, local_cache=cache)["x"][:1000], data[:1000])
    with pytest.raises(SourceChangedError):
        open_rfs(old, local_cache=cache)["x"][:]


@pytest.mark.parametrize(("has_etag", "options"), [(False, {}), (True, {"validate_sources": False})])
def test_files_whose_identity_is_not_known_are_not_kept(server, cache, has_etag, options):
    rfs, data = made(server, number=3, has_etag=has_etag)
    for _ in range(2):
        np.testing.assert_array_equal(open_rfs(rfs, local_cache=cache, **options)["x"][:], data)
    assert len(server.log) == 2
    assert cache.info().ranges == 0


def test_local_files_are_not_kept(server, cache):
    rfs, data = made(server, number=3)
    path = str(server.folder / "raw.bin")
    for place in rfs["refs"].values():
        if isinstance(place, list):
            place[0] = path
    np.testing.assert_array_equal(open_rfs(rfs, local_cache=cache)["x"][:], data)
    assert not cache.path.exists()
