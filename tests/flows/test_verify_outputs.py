"""The flow verify_outputs under a Prefect server, and its plan."""

import json
import shutil

import pytest

from flows import crash_hook
from flows.__main__ import main
from flows.load_config import load_config
from shadowzarr.catalog.index_run import index_dandisets

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::ResourceWarning")


@pytest.fixture
def config(write_config, archive, tmp_path):
    """An output of three assets, and a configuration that checks two of them."""
    changes = ["dandisets.0.include=[sub-1/*, sub-2/*, sub-3/*]"]
    index_dandisets(load_config(write_config(), changes=changes).request)
    path = tmp_path / "verify.yaml"
    path.write_text(
        f"flow: verify_outputs\narchive: {archive.api_url}\noutput: {tmp_path}/out\n"
        "sample: {count: 2, seed: 3}\nrun: {concurrency: 1, retries: 0, timeout: 60}\n"
    )
    return path


def test_a_choice_is_checked_and_what_is_wrong_is_told(prefect_server, config, hook, tmp_path, capsys):
    watched = dict(crash_hook.RUNNING)
    assert main(["run", str(config), "--json-lines"]) == 0
    assert watched == crash_hook.RUNNING  # a run that ended is watched no longer
    events = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    begin, progress, end = events[0], events[-2], events[-1]
    checks = [each for each in events[1:-1] if each["event"] != "progress"]
    assert (begin["event"], begin["outputs_total"]) == ("begin", 2)
    assert [(each["event"], each["outcome"], each["reason"]) for each in checks] == [
        ("output", "equal", None)
    ] * 2
    assert (progress["outputs_done"], progress["failures"]) == (2, 0)
    assert (end["exit_code"], end["outcomes"], end["reasons"]) == (0, {"equal": 2}, [])
    shutil.rmtree(tmp_path / "out/dandisets/000001/draft/sub-2/2.nwb.shadowzarr")
    with_webhook = ["--set", "sample.count=null", "--set", f"notify={{webhook: '{hook.url}'}}"]
    assert main(["run", str(config), *with_webhook]) == 1
    printed = capsys.readouterr()
    assert "broken  000001 draft  sub-2/2.nwb  its references are not there" in printed.err
    assert f"3 outputs of 3 checked\nreport: {tmp_path}/out/verification.json\n" in printed.out
    assert "equal to their sources" in printed.out
    assert printed.out.endswith("exit code 1: 1 output broken\n")
    found = json.loads((tmp_path / "out" / "verification.json").read_text())
    assert found["counts"] == {"equal": 2, "broken": 1}
    assert [each["path"] for each in found["found"]] == ["sub-2/2.nwb"]
    (told,) = hook.bodies
    assert told["text"] == (
        "shadowzarr verify_outputs: 1 of 3 outputs are not as they should be. exit code 1: 1 output broken"
    )
    assert told["failures"] == ["broken  000001 draft  sub-2/2.nwb  its references are not there"]
    assert told["report"] == str(tmp_path / "out" / "verification.json")


def test_a_plan_names_what_would_be_checked(config, archive, tmp_path, capsys):
    asked = len(archive.api.log)
    assert main(["run", str(config), "--plan"]) == 0
    printed = capsys.readouterr().out
    assert "2 of 3 outputs would be checked (seed 3); nothing was done." in printed
    assert printed.count(".record.json") == 2
    assert main(["plan", str(config), "--set", "sample.count=null"]) == 0
    assert "3 of 3 outputs would be checked; nothing was done." in capsys.readouterr().out
    assert len(archive.api.log) == asked
    assert main(["plan", str(config), "--json-lines"]) == 0
    plan = json.loads(capsys.readouterr().out)
    assert (plan["event"], plan["outputs_total"], plan["outputs"], plan["seed"]) == ("plan", 2, 3, 3)
    assert not (tmp_path / "out" / "verification.json").exists()


def test_an_output_that_is_not_there_is_told_before_prefect_starts(config, hook, tmp_path, capsys):
    changes = ["--set", f"output={tmp_path}/nothing", "--set", f"notify={{webhook: '{hook.url}'}}"]
    assert main(["run", str(config), *changes]) == 1
    assert [body["text"].partition(": ")[2] for body in hook.bodies] == [
        f"the output {tmp_path}/nothing does not exist"
    ]
    assert capsys.readouterr().err == f"the output {tmp_path}/nothing does not exist\n"


def test_an_empty_output_has_nothing_to_check(config, hook, tmp_path, capsys):
    (tmp_path / "empty").mkdir()
    changes = [f"output={tmp_path}/empty", f"notify={{webhook: '{hook.url}', on: always}}"]
    assert main(["run", str(config), *(word for change in changes for word in ("--set", change))]) == 0
    assert [body["exit_code"] for body in hook.bodies] == [0]
    assert "0 outputs of 0 checked" in capsys.readouterr().out
