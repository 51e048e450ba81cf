"""Files and folders that are replaced whole: what a reader finds, and what stays, for whom."""

import os
import threading
from pathlib import Path

import pytest

from shadowzarr import replacing
from shadowzarr.replacing import replace_file, replace_whole


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
