"""Workflows are of the form that their host knows, and call what there is."""

import re
import shlex
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))


def test_there_is_one_for_each_purpose():
    assert {path.stem for path in WORKFLOWS} == {"test", "docs", "release", "nightly"}


def test_they_are_of_the_form_that_their_host_knows(capsys):
    jsonschema = pytest.importorskip("check_jsonschema")
    with pytest.raises(SystemExit) as ended:
        jsonschema.main(["--builtin-schema", "vendor.github-workflows", *map(str, WORKFLOWS)])
    assert ended.value.code == 0, capsys.readouterr().out


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.stem)
def test_commands_exist_and_take_their_arguments(path):
    from flows.__main__ import app as flows
    from shadowzarr.cli.command import _app

    text = path.read_text(encoding="utf-8").replace("\\\n", " ")
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    for targets in re.findall(r"make ([a-z\- ]+)", text):
        for target in targets.split():
            assert re.search(rf"^{target}:", makefile, re.MULTILINE), target
    for line in re.findall(r"(?:shadowzarr|-m flows) [a-z][^\n#]*", text):
        program, *arguments = shlex.split(line.removeprefix("-m "))
        app = flows if program == "flows" else _app(arguments)
        app.parse_args(arguments, exit_on_error=False, print_error=False)
    for config in re.findall(r"configs/[\w/.]+", text):
        assert (ROOT / config).is_file(), config


def test_the_package_says_that_it_is_typed():
    assert (ROOT / "shadowzarr" / "py.typed").is_file()
