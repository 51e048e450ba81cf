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


def test_a_choice_is_checked_and_what_is_wrong_is_told(prefect_server, config, tmp_path, capsys):
    watched = dict(crash_hook.RUNNING)
    assert main(["run", str(config)]) == 0
    assert watched == crash_hook.RUNNING  # a run that ended is watched no longer
    printed = capsys.readouterr().out
    assert "2 outputs of 3 checked" in printed
    assert "exit code" not in printed
    shutil.rmtree(tmp_path / "out/dandisets/000001/draft/sub-2/2.nwb.shadowzarr")
    assert main(["run", str(config), "--set", "sample.count=null"]) == 1
    printed = capsys.readouterr()
    assert "broken  000001 draft  sub-2/2.nwb  its references are not there" in printed.err
    assert "3 outputs of 3 checked" in printed.out
    assert "equal to their sources" in printed.out
    assert printed.out.endswith("exit code 1: 1 output broken\n")
    found = json.loads((tmp_path / "out" / "verification.json").read_text())
    assert found["counts"] == {"equal": 2, "broken": 1}
    assert [each["path"] for each in found["found"]] == ["sub-2/2.nwb"]


def test_a_plan_names_what_would_be_checked(config, archive, tmp_path, capsys):
    asked = len(archive.api.log)
    assert main(["run", str(config), "--plan"]) == 0
    printed = capsys.readouterr().out
    assert "2 of 3 outputs would be checked (seed 3); nothing was done." in printed
    assert printed.count(".record.json") == 2
    assert len(archive.api.log) == asked
    assert not (tmp_path / "out" / "verification.json").exists()


def test_an_output_that_is_not_there_is_told_before_prefect_starts(config, tmp_path, capsys):
    assert main(["run", str(config), "--set", f"output={tmp_path}/nothing"]) == 1
    assert capsys.readouterr().err == f"the output {tmp_path}/nothing does not exist\n"


def test_an_empty_output_has_nothing_to_check(config, tmp_path, capsys):
    (tmp_path / "empty").mkdir()
    assert main(["run", str(config), "--set", f"output={tmp_path}/empty"]) == 0
    assert "0 outputs of 0 checked" in capsys.readouterr().out
