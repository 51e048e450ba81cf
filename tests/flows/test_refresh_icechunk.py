"""The flow refresh_icechunk under a Prefect server, and its plan."""

import pytest

from flows.__main__ import main
from flows.load_config import load_config
from shadowzarr.catalog.index_run import index_dandisets

pytest.importorskip("icechunk", reason="icechunk is not installed")
pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::ResourceWarning")


@pytest.fixture
def config(write_config, archive, tmp_path):
    """An output of three assets, and a configuration that follows two of them and one that is not indexed."""
    changes = ["dandisets.0.include=[sub-1/*, sub-2/*, sub-3/*]"]
    index_dandisets(load_config(write_config(), changes=changes).request)
    path = tmp_path / "refresh.yaml"
    path.write_text(
        f"flow: refresh_icechunk\narchive: {archive.api_url}\noutput: {tmp_path}/out\n"
        "dandisets: [{id: '000001', include: [sub-1/*, sub-2/*, sub-4/*]}]\nrun: {retries: 0}\n"
    )
    return path


def test_a_run_commits_and_says_what_is_missing(prefect_server, config, archive, tmp_path, capsys):
    from shadowzarr.icechunk import open_repository
    from shadowzarr.icechunk.asset_groups import held_assets

    name = archive.archive.publish("000001")
    assert main(["run", str(config)]) == 3
    printed = capsys.readouterr()
    assert "000001 draft  2 added, 2 assets in all" in printed.err
    assert "\n  missing: sub-4/4.nwb: it has no references in the output" in printed.err
    assert f"not tagged: {name}: 1 asset of it cannot be written, the first sub-4/4.nwb" in printed.err
    assert printed.out == (
        "1 repository looked at, 1 of them changed\nexit code 3: 1 repository lacking assets or versions\n"
    )
    repo = open_repository(tmp_path / "out" / "icechunk" / "000001", create=False)
    assert set(held_assets(repo.readonly_session("main"))) == {"sub-1/1.nwb", "sub-2/2.nwb"}
    changes = ["--set", "dandisets.0.include=[sub-1/*, sub-2/*, sub-3/*]"]
    assert main(["run", str(config), *changes]) == 0
    printed = capsys.readouterr()
    assert f"000001 draft  1 added, 3 assets in all, tagged {name}" in printed.err
    assert main(["run", str(config), "--set", "archive=http://127.0.0.1:9/api"]) == 1
    printed = capsys.readouterr()
    assert "failed  000001  " in printed.err
    assert printed.out.endswith("exit code 1: 1 repository failed\n")


def test_a_plan_and_what_makes_a_run_impossible_need_no_prefect(config, tmp_path, capsys, monkeypatch):
    assert main(["run", str(config), "--plan"]) == 0
    printed = capsys.readouterr().out
    assert "added: sub-1/1.nwb\n" in printed
    assert "missing: sub-4/4.nwb: " in printed
    assert "1 repository would be refreshed; nothing was done." in printed
    assert not (tmp_path / "out" / "icechunk").exists()
    assert main(["run", str(config), "--set", f"output={tmp_path}/nothing"]) == 1
    assert capsys.readouterr().err == f"the output {tmp_path}/nothing does not exist\n"
    assert main(["run", str(config), "--set", "icechunk.repository=gs://bucket/x"]) == 1
    assert "icechunk.repository" in (said := capsys.readouterr().err)
    assert "expected a folder, or s3://BUCKET/PREFIX" in said
    from shadowzarr.catalog.lock import output_lock

    with output_lock(tmp_path / "out" / ".shadowzarr" / "lock"):
        assert main(["run", str(config)]) == 1
    assert "another run (process" in capsys.readouterr().err
    monkeypatch.setattr(
        "importlib.util.find_spec", lambda name, *more: None if name == "icechunk" else object()
    )
    assert main(["run", str(config), "--plan"]) == 1
    assert "icechunk" in capsys.readouterr().err
