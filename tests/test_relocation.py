"""References to files that were moved: only the document changes, and it reads what it read."""

import json
import shutil

import h5py
import numpy as np
import pytest

from shadowzarr import RelocationReport, generate_rfs, open_rfs, relocate_rfs, verify_rfs, write_rfs
from shadowzarr.errors import OutputError, SourceChangedError, SourceNotFoundError, UsageError
from shadowzarr.relocation import _Relocated


@pytest.fixture
def moved(tmp_path):
    """References in a directory, to a file that was moved since."""
    (tmp_path / "old").mkdir()
    with h5py.File(tmp_path / "old" / "x.h5", "w") as file:
        file.create_dataset("many", data=np.arange(3000), chunks=(10,))
        file.create_dataset("piece", data=np.arange(5000.0))
        file.create_dataset("few", data=np.arange(3000), chunks=(1000,))
    rfs = generate_rfs(tmp_path / "old" / "x.h5", chunk_index_threshold=50, contiguous_chunk_bytes=9000)
    write_rfs(rfs, tmp_path / "refs")
    (tmp_path / "old").rename(tmp_path / "new")
    return tmp_path


def state(folder):
    return {str(path): path.stat().st_mtime_ns for path in sorted(folder.rglob("*")) if path.is_file()}


def test_everything_in_the_document_names_the_new_place(moved):
    before = state(moved / "refs" / "index")
    report = relocate_rfs(moved / "refs", from_prefix=str(moved / "old"), to_prefix=str(moved / "new"))
    assert report.files == {str(moved / "old" / "x.h5"): str(moved / "new" / "x.h5")}
    assert report.written
    assert report.checked
    text = (moved / "refs" / "refs.json").read_text()
    assert str(moved / "old") not in text
    assert {"indexes", "gen", "sources", "templates"} <= json.loads(text).keys()
    assert verify_rfs(moved / "refs", moved / "new" / "x.h5", mode="full").equal
    assert state(moved / "refs" / "index") == before
    assert [p.name for p in (moved / "refs").iterdir() if p.name.startswith(".")] == []


def test_a_whole_name_and_slashes_at_the_end(moved):
    old, new = moved / "old" / "x.h5", moved / "new" / "x.h5"
    relocate_rfs(moved / "refs", from_prefix=str(old), to_prefix=str(new))
    (moved / "new").rename(moved / "newest")
    report = relocate_rfs(moved / "refs", from_prefix=f"{moved}/new/", to_prefix=str(moved / "newest"))
    assert report.files == {str(new): str(moved / "newest" / "x.h5")}


def test_a_prefix_ends_at_a_slash(moved):
    with pytest.raises(UsageError, match=r"no file in .* begins with"):
        relocate_rfs(moved / "refs", from_prefix=str(moved / "ol"), to_prefix=str(moved / "new"))


def test_a_dry_run_writes_nothing(moved):
    before = state(moved / "refs")
    report = relocate_rfs(
        moved / "refs", from_prefix=str(moved / "old"), to_prefix=str(moved / "new"), dry_run=True
    )
    assert not report.written
    assert report.places >= 3
    assert "would change" in report.summary()
    assert state(moved / "refs") == before


def test_another_file_at_the_new_place_is_refused(moved):
    before = state(moved / "refs")
    (moved / "new" / "x.h5").write_bytes(b"something else")
    with pytest.raises(SourceChangedError, match="expected"):
        relocate_rfs(moved / "refs", from_prefix=str(moved / "old"), to_prefix=str(moved / "new"))
    with pytest.raises(SourceNotFoundError):
        relocate_rfs(moved / "refs", from_prefix=str(moved / "old"), to_prefix=str(moved / "nowhere"))
    assert state(moved / "refs") == before
    relocate_rfs(
        moved / "refs", from_prefix=str(moved / "old"), to_prefix=str(moved / "nowhere"), check=False
    )
    assert str(moved / "nowhere") in (moved / "refs" / "refs.json").read_text()


def test_templates_that_are_part_of_a_name(tmp_path):
    for folder in ("old/a", "new/a"):
        (tmp_path / folder).mkdir(parents=True)
        (tmp_path / folder / "f").write_bytes(bytes(range(8)))
    array = {
        "zarr_format": 3, "node_type": "array", "shape": [8], "data_type": "uint8", "fill_value": 0,
        "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": [4]}},
        "chunk_key_encoding": {"name": "default", "configuration": {"separator": "/"}},
        "codecs": [{"name": "bytes"}], "attributes": {"nan": float("nan")},
    }  # fmt: skip
    refs = {
        "zarr.json": {"zarr_format": 3, "node_type": "group"},
        "x/zarr.json": array,
        "x/c/0": ["{{t}}/a/f", 0, 4],
        "x/c/1": [f"{tmp_path}/old/a/f", 4, 4],
    }
    document = {"version": 1, "templates": {"t": str(tmp_path / "old")}, "refs": refs}
    (tmp_path / "refs.json").write_text(json.dumps(document))
    report = relocate_rfs(
        tmp_path / "refs.json", from_prefix=f"{tmp_path}/old/a", to_prefix=f"{tmp_path}/new/a"
    )
    shutil.rmtree(tmp_path / "old")
    assert list(report.files) == [f"{tmp_path}/old/a/f"]
    array = open_rfs(tmp_path / "refs.json")["x"]
    assert array[...].tolist() == list(range(8))
    assert np.isnan(array.attrs["nan"])


@pytest.mark.parametrize(("old", "new"), [("", "/x"), ("/x", "")])
def test_empty_prefixes_are_refused(moved, old, new):
    with pytest.raises(UsageError, match="not empty"):
        relocate_rfs(moved / "refs", from_prefix=old, to_prefix=new)


def test_what_cannot_be_written_is_named(moved):
    with pytest.raises(UsageError, match="not on this machine"):
        relocate_rfs("https://host/refs.json", from_prefix="/a", to_prefix="/b")
    with pytest.raises(SourceNotFoundError, match="no references at"):
        relocate_rfs(moved / "gone", from_prefix="/a", to_prefix="/b")
    with pytest.raises(UsageError, match="URL with a signature"):
        relocate_rfs(
            moved / "refs", from_prefix=str(moved / "old" / "x.h5"), to_prefix="https://h/x?X-Amz-Signature=1"
        )


@pytest.mark.parametrize(
    ("found", "words"),
    [
        ({"checked": False}, "2 files (not checked), changed"),
        ({}, "2 files (there; the references have no sizes to compare), changed"),
        ({"sizes": 2}, "2 files (size is the same; no ETag to compare), changed"),
        ({"sizes": 2, "etags": 1}, "2 files (size is the same, and the ETag of 1), changed"),
        ({"sizes": 2, "etags": 2}, "2 files (size and ETag are the same), changed"),
        ({"sizes": 1, "etags": 1}, "2 files (size of 1 and ETag are the same), changed"),
    ],
)
def test_the_summary_says_what_was_compared(found, words):
    values = {"files": {"a": "b", "c": "d"}, "places": 2, "checked": True, "written": True}
    assert words in RelocationReport(**{**values, **found}).summary()


def test_references_that_are_replaced_meanwhile_stay_as_they_are(moved, monkeypatch):
    document, check = moved / "refs" / "refs.json", _Relocated.check

    def replaced(relocated):
        check(relocated)
        document.write_text('{"version": 1, "refs": {}}')

    monkeypatch.setattr(_Relocated, "check", replaced)
    with pytest.raises(OutputError, match="written anew meanwhile and stays as it is; do it again"):
        relocate_rfs(moved / "refs", from_prefix=str(moved / "old"), to_prefix=str(moved / "new"))
    assert document.read_text() == '{"version": 1, "refs": {}}'
    assert [path.name for path in document.parent.glob(".*")] == []
