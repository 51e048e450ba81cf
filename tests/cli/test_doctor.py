"""``shadowzarr doctor``: a line for each finding, JSON, and the exit code."""

import json

from command_line import call

from shadowzarr.doctor import Finding


def test_this_machine_is_well():
    result = call("doctor", "--offline")
    assert (result.returncode, result.stderr) == (0, "")
    *lines, last = result.stdout.splitlines()
    assert last == "nothing is wrong"
    assert all(line.split()[0] in ("fine", "note") for line in lines)


def test_what_is_wrong_is_said_with_what_to_do(monkeypatch):
    def examine(**_):
        yield Finding("clock", "wrong", "600 s behind", "set it")
        yield Finding("key", "note", "A_KEY is not set")

    monkeypatch.setattr("shadowzarr.doctor.examine", examine)
    result = call("doctor")
    assert result.returncode == 1
    assert result.stdout.splitlines()[0] == "wrong  clock      600 s behind -> set it"
    assert result.stdout.splitlines()[-1] == "wrong: 1; what to do stands behind each"
    said = json.loads(call("doctor", "--json").stdout)
    assert said["well"] is False
    assert said["findings"][1] == {
        "check": "key",
        "state": "note",
        "says": "A_KEY is not set",
        "remedy": "",
    }
