import subprocess
import sys
import textwrap

import pytest

from shadowzarr.catalog.lock import output_lock
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
        from shadowzarr.catalog.lock import output_lock
        with output_lock(pathlib.Path({str(lock)!r})):
            os.kill(os.getpid(), 9)
        """)
    assert subprocess.run([sys.executable, "-c", script], check=False).returncode == -9
    assert lock.read_text()
    with output_lock(lock):
        pass
    assert lock.read_text() == ""


def test_a_place_that_cannot_be_written(tmp_path):
    (tmp_path / "file").write_text("")
    with (
        pytest.raises(OutputError, match="cannot write to the output"),
        output_lock(tmp_path / "file" / "lock"),
    ):
        pass
