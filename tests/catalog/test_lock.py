import os
import subprocess
import sys
import textwrap

import pytest

from shadowzarr.catalog.lock import check_output, output_lock
from shadowzarr.errors import OutputBusyError, OutputError


def test_one_holder_at_a_time_and_an_empty_file_afterwards(tmp_path):
    lock = tmp_path / "out" / ".shadowzarr" / "lock"
    with output_lock(lock):
        with (
            pytest.raises(
                OutputBusyError, match=rf"another run \(process \d+ on .*\) is writing to {tmp_path}/out"
            ),
            output_lock(lock),
        ):
            pass
        assert lock.read_text()
    assert lock.read_text() == ""
    with output_lock(lock):
        pass


def test_the_lock_of_a_killed_process_is_free(tmp_path):
    lock = tmp_path / "lock"
    script = textwrap.dedent(f"""
        import os, pathlib
        from shadowzarr.catalog.lock import check_output, output_lock
        with output_lock(pathlib.Path({str(lock)!r})):
            os.kill(os.getpid(), 9)
        """)
    assert subprocess.run([sys.executable, "-c", script], check=False).returncode == -9
    assert lock.read_text()
    with output_lock(lock):
        pass
    assert lock.read_text() == ""


def test_looking_at_a_place_writes_nothing(tmp_path):
    check_output(tmp_path / "a" / "b" / ".shadowzarr" / "lock")
    assert list(tmp_path.iterdir()) == []
    with output_lock(tmp_path / "lock"):
        check_output(tmp_path / "lock")


def test_looking_at_a_place_that_cannot_be_written(tmp_path, monkeypatch):
    (tmp_path / "file").write_text("")
    with pytest.raises(OutputError, match=r"cannot write to the output .*file/out: Not a directory"):
        check_output(tmp_path / "file" / "out" / "lock")
    (tmp_path / "lock").write_text("")
    monkeypatch.setattr(os, "access", lambda *_: False)  # root may write everywhere
    for place in (tmp_path / "lock", tmp_path / "out" / "lock"):
        with pytest.raises(OutputError, match="Permission denied"):
            check_output(place)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["file", "lock"]


def test_a_place_that_cannot_be_written(tmp_path):
    (tmp_path / "file").write_text("")
    with (
        pytest.raises(OutputError, match="cannot write to the output"),
        output_lock(tmp_path / "file" / "lock"),
    ):
        pass
