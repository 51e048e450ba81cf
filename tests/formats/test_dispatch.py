"""One door for all formats: which generator a file goes to, and what it may be told."""

import h5py
import numpy as np
import pytest

from shadowzarr.errors import NotHDF5Error, UnknownFormatError, UsageError
from shadowzarr.formats import dispatch
from shadowzarr.formats.dispatch import generate_references, hosted_url, options_of
from shadowzarr.formats.hdf5.generate import generate_rfs
from shadowzarr.testing import RangeServer


@pytest.fixture
def file(tmp_path):
    with h5py.File(tmp_path / "a.bin", "w") as made:
        made["x"] = np.arange(3000)
    return tmp_path / "a.bin"


@pytest.fixture
def tiff(tmp_path):
    (tmp_path / "b.bin").write_bytes(b"II*\0" + bytes(100))
    return tmp_path / "b.bin"


@pytest.fixture
def asked(monkeypatch):
    """What the generator of TIFF files is asked, which makes nothing here."""
    calls = []

    def run(source, local_file, **options):
        calls.append((source, local_file, options))
        return {"version": 1, "refs": {}}

    generator = dispatch._Generator(options_of("tiff"), run)
    monkeypatch.setitem(dispatch._GENERATORS, "tiff", generator)
    return calls


def test_the_content_chooses_the_generator(file, tiff, asked):
    assert "x/zarr.json" in generate_references(file)["refs"]
    assert asked == []
    generate_references(tiff, inline_limit=5)
    assert asked == [(tiff, None, {"progress": None, "inline_limit": 5})]


def test_a_format_that_is_given_is_believed(file, asked):
    generate_references(file, format="tiff")
    assert len(asked) == 1


def test_what_is_likely_is_tried_first_and_the_content_decides(file, tiff, asked):
    assert "x/zarr.json" in generate_references(file, likely="hdf5")["refs"]
    generate_references(tiff, likely="hdf5")
    assert len(asked) == 1


def test_a_likely_format_saves_a_request(file):
    def count(**options):
        with RangeServer(file.parent) as server:
            generate_references(server.url(file.name), **options)
            return len(server.log)

    assert count() == count(likely="hdf5") + 1


def test_what_is_of_no_format_is_named_as_what_it_should_be(tmp_path):
    (tmp_path / "c.nwb").write_text("text")
    with pytest.raises(NotHDF5Error):
        generate_references(tmp_path / "c.nwb", likely="hdf5")
    with pytest.raises(UnknownFormatError):
        generate_references(tmp_path / "c.nwb")


def test_options_that_a_generator_lacks_are_refused_by_name(tiff, asked):
    with pytest.raises(UsageError, match="allow_external, contiguous_chunk_bytes cannot be chosen for"):
        generate_references(tiff, contiguous_chunk_bytes=5, allow_external=True)
    assert asked == []
    with pytest.raises(UsageError, match="there is no format 'png'; expected hdf5 or tiff"):
        generate_references(tiff, format="png")


def test_defaults_go_to_whoever_takes_them(file, tiff, asked):
    defaults = {"contiguous_chunk_bytes": 8000, "inline_limit": 7}
    assert generate_references(file, defaults=defaults) == generate_rfs(file, **defaults)
    assert generate_references(file) != generate_rfs(file, **defaults)
    generate_references(tiff, defaults=defaults)
    assert asked[0][2] == {"progress": None, "inline_limit": 7}


def test_files_of_a_set_lie_beside_each_other_where_they_are_hosted():
    url = "https://host/data/run%201/a.tif?version=3"
    assert hosted_url(url, "/here/run 1/a.tif", "/here/run 1/a.tif") == url
    assert (
        hosted_url(url, "/here/run 1/a.tif", "/here/run 1/b c.tif") == "https://host/data/run%201/b%20c.tif"
    )
    assert hosted_url("s3://bucket/x/a.tif", "/here/x/a.tif", "/here/y/b.tif") == "s3://bucket/y/b.tif"
    assert hosted_url("/there/x 1/a.tif", "/here/a.tif", "/here/b c#.tif") == "/there/x 1/b c#.tif"
    asset = "https://api.dandiarchive.org/api/assets/5a9cc6f1-aeaf-46cc-aae7-ea27960236ea/download/"
    assert hosted_url(asset, "/here/a.tif", "/here/a.tif") == asset
    with pytest.raises(UsageError, match=r"b\.tif is cannot be told"):
        hosted_url(asset, "/here/a.tif", "/here/b.tif")
