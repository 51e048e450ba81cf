"""Folders that cannot be written to, and those that are nearly full."""

from collections import namedtuple

from shadowzarr.doctor import folders


def test_a_folder_that_is_not_there_yet(tmp_path):
    assert folders._folder("cache", tmp_path / "a" / "b", "").state == "fine"


def test_a_file_in_the_way(tmp_path):
    (tmp_path / "file").write_text("")
    finding = folders._folder("cache", tmp_path / "file" / "cache", "set HOME")
    assert (finding.state, finding.remedy) == ("wrong", "set HOME")
    assert "file is no folder" in finding.says


def test_little_room_is_a_note(tmp_path, monkeypatch):
    usage = namedtuple("usage", "free")(10_000_000)
    monkeypatch.setattr(folders.shutil, "disk_usage", lambda _: usage)
    finding = folders._folder("cache", tmp_path, "")
    assert (finding.state, finding.remedy) == ("note", "make room there")
    assert "10 MB are free" in finding.says
