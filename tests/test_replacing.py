"""Files and folders that are replaced whole: what a reader finds, and what stays, for whom."""

import os
import threading
from pathlib import Path

import h5py
import numpy as np
import pytest

from shadowzarr import generate_rfs, replacing, write_rfs
from shadowzarr.catalog.folder_output import FolderOutput
from shadowzarr.replacing import bring_to_disk, replace_file, replace_whole


def test_a_name_that_was_renamed_belongs_to_the_next_writer(tmp_path, monkeypatch):
    rename = Path.replace

    def replace_and_begin_another(path, target):
        rename(path, target)
        path.write_bytes(b"another writer's")

    monkeypatch.setattr(Path, "replace", replace_and_begin_another)
    replace_file(tmp_path / "x.json", b"ours")
    assert (tmp_path / "x.json").read_bytes() == b"ours"
    (left,) = tmp_path.glob(".*.tmp")
    assert left.read_bytes() == b"another writer's"


def test_a_failure_leaves_what_was_there(tmp_path):
    (tmp_path / "x.json").write_bytes(b"before")

    def refuse(temporary):
        raise OSError(f"no: {temporary.read_bytes()!r}")

    with pytest.raises(OSError, match="no: b'ours'"):
        replace_file(tmp_path / "x.json", b"ours", renaming=refuse)
    assert [path.name for path in tmp_path.iterdir()] == ["x.json"]
    assert (tmp_path / "x.json").read_bytes() == b"before"


def make(path: Path, *, is_folder: bool, what: str) -> Path:
    """A file, or a folder with one."""
    if is_folder:
        path.mkdir()
    (path / "x" if is_folder else path).write_text(what)
    return path


def content(path: Path) -> str:
    return (path / "x" if path.is_dir() else path).read_text()


@pytest.mark.parametrize("can_exchange", [True, False])
@pytest.mark.parametrize("before", [None, False, True])
@pytest.mark.parametrize("after", [False, True])
def test_whatever_is_there_is_replaced_and_kept_aside(tmp_path, monkeypatch, can_exchange, before, after):
    """By the name of a file (False) or a folder (True), or none."""
    if not can_exchange:
        monkeypatch.setattr("shadowzarr.replacing._renameat2", lambda: None)
    target = tmp_path / "name"
    if before is not None:
        make(target, is_folder=before, what="old")
    (tmp_path / "staging").mkdir()
    replace_whole(make(tmp_path / "staging" / "new", is_folder=after, what="new"), target)
    assert (target.is_dir(), content(target)) == (after, "new")
    kept = [content(path) for path in (tmp_path / "staging").iterdir()]
    assert kept == (["old"] if before or (before is False and after) else [])


@pytest.mark.skipif(replacing._renameat2() is None, reason="this system cannot exchange names")
def test_a_folder_is_there_at_every_moment(tmp_path):
    target = make(tmp_path / "name", is_folder=True, what="0")
    ended, missed = threading.Event(), []

    def look():
        while not ended.is_set():
            if not os.path.lexists(target):
                missed.append(True)

    looking = threading.Thread(target=look)
    looking.start()
    for number in range(1, 300):
        replace_whole(make(tmp_path / f"new-{number}", is_folder=True, what=str(number)), target)
    ended.set()
    looking.join()
    assert content(target) == "299"
    assert not missed


@pytest.mark.parametrize("can_exchange", [True, False])
def test_what_cannot_be_replaced_is_told_and_stays(tmp_path, monkeypatch, can_exchange):
    if not can_exchange:
        monkeypatch.setattr("shadowzarr.replacing._renameat2", lambda: None)
    folder = make(tmp_path / "new", is_folder=True, what="new")
    (tmp_path / "name").mkdir()
    with pytest.raises(OSError, match="Invalid argument"):
        replace_whole(folder, tmp_path / "new" / "inner")
    with pytest.raises(FileNotFoundError):
        replace_whole(tmp_path / "gone", tmp_path / "name")
    assert (content(folder), (tmp_path / "name").is_dir()) == ("new", True)


@pytest.fixture
def brought(monkeypatch):
    """What was brought to the disk, as it was: (device, inode, time of change) of each file and folder."""
    done = set()
    fsync = os.fsync

    def noted(descriptor):
        fsync(descriptor)
        done.add(_state(os.fstat(descriptor)))

    monkeypatch.setattr(os, "fsync", noted)
    return done


def _state(status):
    return status.st_dev, status.st_ino, status.st_mtime_ns


def test_what_is_brought_to_the_disk(tmp_path, brought):
    (tmp_path / "a" / "b").mkdir(parents=True)
    (tmp_path / "a" / "b" / "x").write_bytes(b"x")
    (tmp_path / "a" / "nowhere").symlink_to("somewhere")
    bring_to_disk(tmp_path / "a")
    wanted = [tmp_path / each for each in ("a", "a/b", "a/b/x")]
    assert brought == {_state(path.stat()) for path in wanted}
    brought.clear()
    bring_to_disk(tmp_path / "a" / "b" / "x")
    assert brought == {_state((tmp_path / "a" / "b" / "x").stat())}


def test_references_are_on_the_disk_before_they_are_named(tmp_path, brought, monkeypatch):
    """All that a document names, and the folders in which it is found."""
    target = tmp_path / "x.shadowzarr"
    rfs = generate_rfs(_file_with_chunks(tmp_path / "x.h5"), chunk_index_threshold=2)
    missing = []
    rename = Path.replace

    def look(path, to):
        if Path(to).name == "refs.json":
            there = [each for each in (target, *target.rglob("*")) if each.name != path.name]
            missing.extend(each for each in there if each != target and _state(each.stat()) not in brought)
            assert any(each.name == "index" for each in there)
            assert len([each for each in there if each.is_file()]) >= 3
        return rename(path, to)

    monkeypatch.setattr(Path, "replace", look)
    write_rfs(rfs, target, inline_limit=10)
    assert not missing
    assert (target / "refs.json").exists()


def test_published_files_are_on_the_disk_before_they_are_named(tmp_path, brought):
    output = FolderOutput(tmp_path / "out")
    staged = tmp_path / "staged"
    (staged / "c").mkdir(parents=True)
    (staged / "c" / "0").write_bytes(b"chunk")
    output.adopt(staged, "000001/index/x")
    output.write("000001/record.json", b"{}", scratch=tmp_path / "scratch")
    places = [
        tmp_path / "out" / "000001" / each for each in ("index", "index/x", "index/x/c/0", "record.json")
    ]
    assert [path for path in places if _state(path.stat()) not in brought] == []


def _file_with_chunks(path):
    with h5py.File(path, "w") as file:
        file.create_dataset("x", data=np.arange(1200).reshape(60, 20), chunks=(7, 20), compression="gzip")
        file["text"] = "a" * 100
    return path
