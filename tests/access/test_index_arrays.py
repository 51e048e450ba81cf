import numpy as np
import pytest

from shadowzarr import RfsBuilder, load_rfs, write_rfs
from shadowzarr.access.index_arrays import read_index
from shadowzarr.errors import DamagedSourceError, SourceNotFoundError


@pytest.fixture
def written(tmp_path):
    builder = RfsBuilder()
    builder.add_array("a", shape=[3, 40_000], data_type="int8", chunk_shape=[1, 1])
    index = np.arange(3 * 40_000 * 2, dtype=np.uint64).reshape(3, 40_000, 2)
    builder.add_index("a", "f", index)
    write_rfs(builder.build(), tmp_path / "x")
    return tmp_path / "x", index


def chunk_files(folder):
    return sorted(p for p in (folder / "index").rglob("*") if p.is_file() and p.name != "zarr.json")


def test_an_index_comes_back_whole(written):
    folder, index = written
    entry = load_rfs(folder)["indexes"]["a"]
    assert isinstance(entry["index"], str)
    assert len(chunk_files(folder)) == 3
    np.testing.assert_array_equal(read_index(entry), index)


def test_loaded_references_can_be_written_again(written, tmp_path):
    folder, index = written
    write_rfs(load_rfs(folder), tmp_path / "y")
    np.testing.assert_array_equal(read_index(load_rfs(tmp_path / "y")["indexes"]["a"]), index)


def test_loaded_references_can_replace_themselves(written):
    folder, index = written
    write_rfs(load_rfs(folder), folder)
    np.testing.assert_array_equal(read_index(load_rfs(folder)["indexes"]["a"]), index)


def test_an_index_chunk_that_is_gone_is_an_error(written):
    folder, _ = written
    chunk_files(folder)[1].unlink()
    with pytest.raises(SourceNotFoundError):
        read_index(load_rfs(folder)["indexes"]["a"])


def test_a_damaged_index_chunk_is_an_error(written):
    folder, _ = written
    chunk_files(folder)[1].write_bytes(b"no index")
    with pytest.raises(DamagedSourceError, match="not an index chunk"):
        read_index(load_rfs(folder)["indexes"]["a"])


def test_an_index_that_fits_into_no_memory_is_an_error(written):
    folder, _ = written
    entry = load_rfs(folder)["indexes"]["a"]
    entry["metadata"]["shape"][0] = 2**60
    with pytest.raises(DamagedSourceError, match="is a chunk index of shape"):
        read_index(entry)


@pytest.mark.parametrize("text", ["[]", "{", '{"shape": 5}'])
def test_metadata_of_older_documents_is_checked(written, text):
    folder, _ = written
    entry = load_rfs(folder)["indexes"]["a"]
    del entry["metadata"]
    next((folder / "index").rglob("zarr.json")).write_text(text)
    with pytest.raises(DamagedSourceError, match="is not the metadata of a chunk index"):
        read_index(entry)
