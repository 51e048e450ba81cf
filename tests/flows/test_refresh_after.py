"""The section icechunk: of a flow that indexes, in runs that find nothing to index and need no Prefect."""

import json
import os

import pytest

from flows.__main__ import main
from flows.load_config import load_config
from shadowzarr.catalog.index_run import index_dandisets

pytest.importorskip("icechunk", reason="icechunk is not installed")
pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::ResourceWarning")


def test_repositories_are_refreshed_at_the_end_of_a_run(write_config, tmp_path, capsys):
    from shadowzarr.icechunk import open_repository
    from shadowzarr.icechunk.asset_groups import held_assets

    config = write_config("icechunk: {repository: " + str(tmp_path / "repositories") + "}\n")
    wanted = "dandisets.0.include=[sub-1/*]"
    index_dandisets(load_config(config, changes=[wanted]).request)
    assert not (tmp_path / "repositories").exists()  # the library leaves that to who asks for it
    assert main(["run", str(config), "--set", wanted]) == 0
    assert "Icechunk: 000001 draft  1 added, 1 asset in all" in capsys.readouterr().err
    place = tmp_path / "repositories" / "000001"
    repo = open_repository(place, create=False)
    assert set(held_assets(repo.readonly_session("main"))) == {"sub-1/1.nwb"}
    more = ["--set", "dandisets.0.include=[sub-1/*, sub-2/*]", "--only-failed"]
    assert main(["run", str(config), *more]) == 3
    printed = capsys.readouterr()
    assert "of dandiset 000001 lacks 1 asset, the first sub-2/2.nwb: it has no references" in printed.err
    assert "exit code 3: 1 dandiset whose Icechunk repository lacks something" in printed.out
    (place / "repo").write_bytes(b"junk")
    assert main(["run", str(config), "--set", wanted]) == 1
    printed = capsys.readouterr()
    assert "exit code 1: 1 dandiset whose Icechunk repository failed" in printed.out
    assert "could not be refreshed: " in json.dumps((tmp_path / "out" / "report.html").read_text())


def test_repositories_in_the_bucket_of_the_output_at_its_service(
    write_config, object_store, tmp_path, capsys, monkeypatch
):
    from shadowzarr.icechunk import open_repository
    from shadowzarr.icechunk.asset_groups import held_assets

    endpoint = os.environ["AWS_ENDPOINT_URL"]
    monkeypatch.setenv("AWS_ENDPOINT_URL", "http://127.0.0.1:9")  # the configuration names another service
    config = write_config("icechunk: {}\n")
    place = f"{{folder: 's3://sources/out', endpoint: '{endpoint}', work_folder: '{tmp_path / 'work'}'}}"
    changes = ["dandisets.0.include=[sub-1/*]", f"output={place}"]
    index_dandisets(load_config(config, changes=changes).request)
    sets = [word for change in changes for word in ("--set", change)]
    for expected in ("1 added, 1 asset in all", "nothing changed, 1 asset in all"):
        assert main(["run", str(config), *sets]) == 0
        assert f"Icechunk: 000001 draft  {expected}" in capsys.readouterr().err
    repo = open_repository("s3://sources/out/icechunk/000001", create=False, endpoint=endpoint)
    assert set(held_assets(repo.readonly_session("main"))) == {"sub-1/1.nwb"}
