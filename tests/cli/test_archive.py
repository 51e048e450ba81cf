"""``shadowzarr archive``: a folder served until it is interrupted."""

import signal
import subprocess
import sys

from command_line import call, error_of

from shadowzarr.testing import RangeServer


def test_archive_serves_until_interrupted(made, tmp_path):
    folder = tmp_path / "000001"
    folder.mkdir()
    (folder / "a.nwb").write_bytes((made / "good.h5").read_bytes())
    code = "import sys; from shadowzarr.cli import main; sys.exit(main())"
    process = subprocess.Popen(
        [sys.executable, "-c", code, "archive", str(tmp_path)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        assert "1 dandiset, 1 asset" in process.stdout.readline()
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=30)
    finally:
        process.kill()
    assert (process.returncode, errors) == (0, "")


def test_archive_on_a_busy_port(made, tmp_path):
    folder = tmp_path / "000001"
    folder.mkdir()
    (folder / "a.nwb").write_bytes((made / "good.h5").read_bytes())
    with RangeServer(made) as other:
        port = other.port
        result = call("archive", tmp_path, "--api-port", port)
    assert result.returncode == 1
    assert f"port {port} of 127.0.0.1: Address already in use" in error_of(result)
    assert "Errno" not in result.stderr


def test_archive_of_nothing(tmp_path):
    result = call("archive", tmp_path / "missing")
    assert result.returncode == 1
    assert "missing" in error_of(result)
