"""The tutorial runs as it stands, against an archive on this machine with ports of its own."""

import re
import shlex
from pathlib import Path

import pytest

from flows.__main__ import main as flows
from shadowzarr.cli import main as shadowzarr
from shadowzarr.testing import ArchiveServer, FolderArchive

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "tutorial.md").read_text(encoding="utf-8")
ADDRESS = "http://127.0.0.1:8777/api"


def blocks(language):
    return re.findall(rf"^```{language}\n(.*?)^```$", PAGE, re.DOTALL | re.MULTILINE)


def test_the_tutorial_runs(tmp_path, monkeypatch, capsys, prefect_server):
    pytest.importorskip("hdmf_zarr")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PREFECT_API_URL", prefect_server)
    first, *examples = blocks("python")
    names = {}
    exec(compile(first, "docs/tutorial.md, the first example", "exec"), names)
    serve, *commands = "".join(blocks("sh")).splitlines()
    assert re.search(r"--api-port (\d+)", serve)[1] in ADDRESS
    with ArchiveServer(FolderArchive("tour")) as server:
        for command in commands:
            program, *arguments = shlex.split(command.replace(ADDRESS, server.api_url))
            if program.endswith("python"):
                assert arguments[:2] == ["-m", "flows"]
                code = flows(arguments[2:])
            else:
                code = shadowzarr(arguments)
            assert code == 0, (command, capsys.readouterr().err)
        printed = capsys.readouterr().out
        assert "3 assets would be indexed" in printed
        assert "sub-01_ses-20260302_ecephys.nwb" in printed
        for number, example in enumerate(examples):
            exec(compile(example, f"docs/tutorial.md, example {number}", "exec"), names)
    assert names["volts"].sizes == {"time": 30_000, "channel": 32}
    assert "Two shanks in visual cortex" in capsys.readouterr().out
