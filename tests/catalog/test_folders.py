"""A folder of files: what belongs to it, and what does not."""

import os
from pathlib import Path

import pytest

from shadowzarr.catalog.folders import check_folder, list_folder
from shadowzarr.catalog.plan import SelectionRules
from shadowzarr.catalog.request import FolderRequest
from shadowzarr.errors import ReadError, UsageError


@pytest.fixture
def folder(tmp_path) -> Path:
    root = tmp_path / "data"
    for name in ("a.tif", "sub/b c.h5", "sub/deep/d.nwb", "notes.txt", ".hidden", ".git/x.h5", "._a.tif"):
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(name.encode())
    return root


def paths(request, **options):
    return [asset.path for asset in list_folder(request, **options)]


def test_all_files_but_hidden_ones(folder):
    found = list_folder(FolderRequest("raw", folder))
    assert [asset.path for asset in found] == ["a.tif", "notes.txt", "sub/b c.h5", "sub/deep/d.nwb"]
    assert {asset.dandiset for asset in found} == {"raw"}
    assert found[2].download_url == str(folder / "sub" / "b c.h5")


def test_where_it_is_hosted(folder):
    found = list_folder(FolderRequest("raw", folder, url_prefix="https://host.test/data%20set/"))
    assert found[2].download_url == "https://host.test/data%20set/sub/b%20c.h5"
    assert found[2].local_path == str(folder / "sub" / "b c.h5")


def test_zarr_stores_references_and_outputs_are_not_looked_into(folder):
    for name in ("store.zarr/zarr.json", "sub/x.shadowzarr/refs.json", "out/dandisets/y.nwb"):
        (folder / name).parent.mkdir(parents=True)
        (folder / name).write_text("{}")
    found = list_folder(FolderRequest("raw", folder), outputs=[folder / "out"])
    assert [(each.path, each.kind) for each in found if each.path not in {"a.tif", "notes.txt"}] == [
        ("store.zarr", "zarr"),
        ("sub/b c.h5", "blob"),
        ("sub/deep/d.nwb", "blob"),
    ]


def test_content_tells_files_of_formats_that_share_an_ending(folder, tmp_path):
    h5 = b"\x89HDF\r\n\x1a\n"
    contents = {
        "new.nc": h5,
        "v7.mat": b"MATLAB 7.3 MAT-file".ljust(512) + h5,
        "far.mat": bytes(2**16) + h5,
        "old.nc": b"CDF\x01" + bytes(8),
        "v5.MAT": b"MATLAB 5.0 MAT-file".ljust(600),
        "v4.mat": bytes(20),
        "empty.nc": b"",
        "text.h5": b"text",
    }
    for name, content in contents.items():
        (folder / name).write_bytes(content)
    (folder / "broken.nc").symlink_to(tmp_path / "nothing")
    found = {asset.path: asset.kind for asset in list_folder(FolderRequest("raw", folder))}
    assert {name for name, kind in found.items() if kind == "other"} == {
        "old.nc", "v5.MAT", "v4.mat", "empty.nc",
    }  # fmt: skip
    assert {"new.nc", "v7.mat", "far.mat", "text.h5", "broken.nc"} <= {
        name for name, kind in found.items() if kind == "blob"
    }


def test_links_to_files_are_followed_and_links_to_folders_are_not(folder, tmp_path):
    (tmp_path / "elsewhere.tif").write_bytes(b"x" * 30)
    (folder / "link.tif").symlink_to(tmp_path / "elsewhere.tif")
    (folder / "broken.tif").symlink_to(tmp_path / "nothing")
    (folder / "loop").symlink_to(folder)
    found = {asset.path: asset.size for asset in list_folder(FolderRequest("raw", folder))}
    assert (found["link.tif"], found["broken.tif"]) == (30, 0)
    assert "loop" not in found


def test_names_that_are_no_text_can_be_told(folder):
    (folder / os.fsdecode(b"\xff.tif")).write_bytes(b"")
    assert "\\udcff.tif" in paths(FolderRequest("raw", folder))
    assert "\\udcff.tif" in paths(FolderRequest("raw", folder, url_prefix="https://host.test"))


@pytest.mark.skipif(os.geteuid() == 0, reason="the superuser may list every folder")
def test_a_folder_that_may_not_be_listed_is_excluded_or_an_error(folder):
    (folder / "sub").chmod(0)
    try:
        with pytest.raises(ReadError, match=r"exclude it with sub/\*\*"):
            paths(FolderRequest("raw", folder))
        rules = SelectionRules(include=("**",), exclude=("sub/**",))
        assert paths(FolderRequest("raw", folder, rules)) == ["a.tif", "notes.txt"]
    finally:
        (folder / "sub").chmod(0o700)


def test_a_listing_that_fails_is_one_message(folder, monkeypatch):
    real = os.scandir

    def scandir(place):
        if Path(place).name == "sub":
            raise PermissionError(13, "Permission denied")
        return real(place)

    monkeypatch.setattr(os, "scandir", scandir)
    with pytest.raises(ReadError, match=r"sub cannot be listed: Permission denied; exclude it with sub/\*\*"):
        paths(FolderRequest("raw", folder))
    rules = SelectionRules(include=("**",), exclude=("sub/**",))
    assert paths(FolderRequest("raw", folder, rules)) == ["a.tif", "notes.txt"]


def test_what_is_no_folder_is_refused_at_once(folder):
    check_folder(FolderRequest("raw", folder))
    with pytest.raises(UsageError, match="does not exist"):
        check_folder(FolderRequest("raw", folder / "nothing"))
    with pytest.raises(UsageError, match="is no folder"):
        check_folder(FolderRequest("raw", folder / "a.tif"))
