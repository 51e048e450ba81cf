"""The format of a file by its content, with as few reads as can be."""

import h5py
import numpy as np
import pytest

from shadowzarr.errors import SourceNotFoundError, UnknownFormatError
from shadowzarr.recognition import find_format, format_of_head, recognize, superblock_places
from shadowzarr.testing import RangeServer

HEADS = {
    b"\x89HDF\r\n\x1a\n": "hdf5",
    bytes(512) + b"\x89HDF\r\n\x1a\n": "hdf5",
    bytes(2048) + b"\x89HDF\r\n\x1a\n" + bytes(100): "hdf5",
    bytes(256) + b"\x89HDF\r\n\x1a\n": None,
    b"\x89HDF\r\n\x1a": None,
    b"II*\0\x08\0\0\0": "tiff",
    b"MM\0*\0\0\0\x08": "tiff",
    b"II+\0\x08\0\0\0": "tiff",
    b"MM\0+\0\x08\0\0": "tiff",
    b"II\0*\0\0\0\x08": None,
    b"MM*\0\x08\0\0\0": None,
    b"II": None,
    b"": None,
}


@pytest.mark.parametrize(("head", "found"), HEADS.items())
def test_the_first_bytes(head, found):
    assert format_of_head(head) == found


def test_places_of_a_superblock():
    assert superblock_places(7) == []
    assert superblock_places(520) == [0, 512]
    assert superblock_places(2**40)[-1] == 2**39


@pytest.mark.parametrize("user_block", [0, 512, 4096, 2**20])
def test_a_superblock_behind_a_user_block_of_any_size(tmp_path, user_block):
    with h5py.File(tmp_path / "a", "w", userblock_size=user_block) as file:
        file["x"] = np.arange(3)
    assert recognize(tmp_path / "a") == "hdf5"


def test_a_file_is_read_twice_at_most():
    reads = []

    def read(ranges):
        reads.append(ranges)
        return [bytes(each.length) for each in ranges]

    assert find_format(read, 2**40) is None
    assert [len(ranges) for ranges in reads] == [1, 28]
    assert reads[0][0].length == 4096
    assert {each.length for each in reads[1]} == {8}


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "is empty; expected HDF5"),
        (b"CDF\x01\0\0\0\0", "is a NetCDF-3 file; expected HDF5"),
        (b"MATLAB 5.0 MAT-file, Platform: GLNXA64", "is a MATLAB file of a version before 7.3"),
        (b"PK\x03\x04", "is a zip archive"),
        (b"some text", "is of no format that is known; expected HDF5.*TIFF"),
    ],
)
def test_other_content_is_one_message(tmp_path, content, message):
    (tmp_path / "a.h5").write_bytes(content)
    with pytest.raises(UnknownFormatError, match=rf"a\.h5 {message}"):
        recognize(tmp_path / "a.h5")


def test_a_folder_and_nothing(tmp_path):
    with pytest.raises(UnknownFormatError, match="is a directory without a recording; expected"):
        recognize(tmp_path)
    with pytest.raises(SourceNotFoundError):
        recognize(tmp_path / "nothing")


def test_a_remote_file_costs_one_request(tmp_path):
    with h5py.File(tmp_path / "a.bin", "w") as file:
        file["x"] = np.arange(100_000)
    (tmp_path / "b.bin").write_bytes(bytes(10_000))
    with RangeServer(tmp_path) as server:
        assert recognize(server.url("a.bin")) == "hdf5"
        (entry,) = server.log
        assert entry.sent <= 4096
        with pytest.raises(UnknownFormatError, match=r"b\.bin is of no format"):
            recognize(server.url("b.bin") + "?X-Amz-Signature=secret")
