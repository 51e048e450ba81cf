"""Calling ``shadowzarr`` and reading what it prints."""

import contextlib
import io
import subprocess
import sys

import h5py

from shadowzarr.cli import main

TAKEN_FOR = (" is an HDF5 file", " is a TIFF file", " is a recording that NEO reads")
"""How the line ends that says what a file was taken for."""


def run(*arguments, cwd=None):
    code = "import sys; from shadowzarr.cli import main; sys.exit(main())"
    return subprocess.run(
        [sys.executable, "-c", code, *map(str, arguments)],
        capture_output=True,
        text=True,
        cwd=cwd,
        timeout=120,
    )


def call(*arguments):
    """The same in this process, which is faster and loads the libraries once."""
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        code = main([str(each) for each in arguments])
    return subprocess.CompletedProcess(arguments, code, out.getvalue(), err.getvalue())


def error_of(result):
    """The last line on the standard error stream; others say what was found, or is waited for."""
    *notices, line = result.stderr.splitlines()
    assert all(notice.endswith((" tries)", *TAKEN_FOR)) for notice in notices), result.stderr
    assert line.startswith("shadowzarr: error: ")
    return line.removeprefix("shadowzarr: error: ")


def add_times(file, name):
    """Add a dataset that h5py cannot read, so that references leave it out."""
    h5py.h5d.create(file.id, name.encode(), h5py.h5t.UNIX_D32LE, h5py.h5s.create_simple((1,)))


def listed(folder):
    """Names in a folder."""
    return sorted(path.name for path in folder.iterdir())


class Terminal:
    """What a command writes to when it shows how far it is."""

    def __init__(self) -> None:
        self.text = ""

    def isatty(self) -> bool:
        return True

    def write(self, text: str) -> None:
        self.text += text

    def flush(self) -> None:
        pass
