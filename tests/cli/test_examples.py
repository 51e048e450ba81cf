"""Examples in the help of commands: shown, narrow enough for a terminal, understood, and run."""

import re
import shlex

import pytest
from command_line import call

from flows.__main__ import COMMAND
from flows.__main__ import EXAMPLES as FLOW_EXAMPLES
from flows.__main__ import app as flows_app
from shadowzarr.cli.command import _app
from shadowzarr.cli.verbs import VERBS

EXAMPLES = [(name, example) for name, verb in VERBS.items() for example in verb.examples]
FLOWS = [f"{COMMAND} {example}" for examples in FLOW_EXAMPLES.values() for example in examples]
ELSEWHERE = (
    "://",
    "/data/old",
    "--from virtualizarr",
    "--from lindi",
    "cache clear",
    "archive folder",
    "doctor",
)
"""What examples name that a test has not, or must not touch."""


@pytest.mark.parametrize("verb", VERBS)
def test_help_ends_with_the_examples(verb):
    text = call(verb, "--help").stdout
    for example in VERBS[verb].examples:
        assert f"  {example}\n" in text
        assert len(example) <= 78


@pytest.mark.parametrize(("verb", "example"), EXAMPLES)
def test_an_example_is_understood(verb, example):
    program, *arguments = shlex.split(example)
    assert (program, arguments[0]) == ("shadowzarr", verb)
    _, bound, *_ = _app(arguments).parse_args(arguments, exit_on_error=False, print_error=False)
    assert bound.arguments or verb == "doctor"


@pytest.mark.parametrize("example", FLOWS)
def test_an_example_of_a_flow_is_understood(example, capsys):
    assert len(example) <= 78
    arguments = shlex.split(example)[3:]
    flows_app.parse_args(arguments, exit_on_error=False, print_error=False)
    words = [word for word in arguments[:2] if not re.search(r"[/.]", word)]
    flows_app([*words[: 2 if words[0] == "catalog" else 1], "--help"])
    assert f"  {example}\n" in capsys.readouterr().out


def test_local_examples_run_in_their_order(made, tmp_path, monkeypatch):
    pytest.importorskip("icechunk")
    monkeypatch.chdir(tmp_path)
    (tmp_path / "session.nwb").write_bytes((made / "good.h5").read_bytes())
    assert call("generate", "session.nwb", "a.shadowzarr").returncode == 0
    ran = set()
    for verb, example in EXAMPLES:
        if any(part in example for part in ELSEWHERE):
            continue
        line = example.replace("acquisition/ElectricalSeries/data", "wave/data")
        result = call(*shlex.split(line)[1:])
        assert result.returncode == 0, (example, result.stderr)
        ran.add(verb)
    assert ran == set(VERBS) - {"relocate", "archive", "doctor"}
