"""Files that are replaced whole: what stays of the temporary name, and for whom."""

from pathlib import Path

import pytest

from shadowzarr.replacing import replace_file


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
