"""The section materialize: of a flow that indexes, in runs that find nothing to index and need no Prefect."""

import json
import os

import numpy as np
import pytest
import zarr

from flows.__main__ import main
from flows.load_config import load_config
from shadowzarr.catalog.index_run import index_dandisets
from shadowzarr.errors import ConfigError
from shadowzarr.store.http_store import HttpStore

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::ResourceWarning")

TWO = "dandisets.0.include=[sub-1/*, sub-2/*]"


@pytest.fixture
def index(write_config):
    """Indexes two assets from a plain script, which materializes none; gives the configuration."""

    def index(more: str):
        config = write_config(more)
        index_dandisets(load_config(config, changes=[TWO]).request)
        return config

    return index


def test_stores_are_written_once_and_one_that_fails_costs_no_other(index, tmp_path, capsys, monkeypatch):
    stores = tmp_path / "zarr"
    config = index(f"materialize: {{folder: {stores}}}\n")
    assert not stores.exists()
    damaged = tmp_path / "out/dandisets/000001/draft/sub-2/2.nwb.shadowzarr/refs.json"
    whole = damaged.read_bytes()
    damaged.write_bytes(whole[:-20])
    assert main(["run", str(config), "--set", TWO]) == 1
    printed = capsys.readouterr()
    assert "Zarr store failed  000001 draft  sub-2/2.nwb  " in printed.err
    assert "Zarr stores: 1 materialized, 1 failed, 0 unchanged" in printed.err
    assert "exit code 1: 1 Zarr store not written" in printed.out
    assert "Zarr store failed" in (tmp_path / "out" / "report.html").read_text()
    group = zarr.open_group(stores / "dandisets/000001/draft/sub-1/1.nwb.zarr", mode="r")
    assert np.array_equal(group["counts"][:], np.arange(300) + 1)
    damaged.write_bytes(whole)
    assert main(["run", str(config), "--set", TWO]) == 0
    assert "Zarr stores: 1 materialized, 1 unchanged" in capsys.readouterr().err
    before = {path: path.stat().st_mtime_ns for path in stores.rglob("*") if path.is_file()}
    with monkeypatch.context() as patch:
        patch.setattr("flows.materialize_after.materialize_assets", None)
        assert main(["run", str(config), "--set", TWO]) == 0
    assert "Zarr stores: 2 unchanged" in capsys.readouterr().err
    assert {path: path.stat().st_mtime_ns for path in stores.rglob("*") if path.is_file()} == before


def test_an_asset_that_left_its_version_gets_no_store(index, archive, tmp_path, capsys):
    config = index(f"materialize: {{folder: {tmp_path}/zarr}}\n")
    archive.archive.remove_asset("000001", "sub-2/2.nwb")
    assert main(["run", str(config), "--set", TWO]) == 0
    assert "Zarr stores: 1 materialized, 0 unchanged" in capsys.readouterr().err
    assert not (tmp_path / "zarr/dandisets/000001/draft/sub-2").exists()


def test_stores_in_a_bucket_and_none_of_what_is_not_public(
    write_config, archive, write_file, object_store, tmp_path, capsys, monkeypatch
):
    archive.archive.add_dandiset("000002", embargo="EMBARGOED", owners=["owner"])
    archive.archive.add_asset("000002", "sub-1/secret.nwb", write_file(tmp_path / "secret.nwb", seed=7))
    monkeypatch.setenv("SHADOWZARR_TEST_KEY", "b" * 40)
    endpoint = os.environ["AWS_ENDPOINT_URL"]
    config = write_config(
        f"materialize: {{folder: 's3://sources/zarr', endpoint: '{endpoint}', work_folder: {tmp_path}/work, "
        "include: sub-1/*}\n"
    )
    changes = [
        "dandisets=[{id: '000001', include: sub-1/*}, '000002']",
        f"output.private_output={tmp_path}/private",
        "archive.api_key_env=SHADOWZARR_TEST_KEY",
    ]
    index_dandisets(load_config(config, changes=changes).request)
    assert list((tmp_path / "private").rglob("secret.nwb.shadowzarr"))
    sets = [word for change in changes for word in ("--set", change)]
    assert main(["run", str(config), *sets]) == 0
    assert "Zarr stores: 1 materialized, 0 unchanged" in capsys.readouterr().err
    stored = object_store.list_objects_v2(Bucket="sources")["Contents"]
    assert not [each["Key"] for each in stored if "000002" in each["Key"]]
    group = zarr.open_group(HttpStore("s3://sources/zarr/dandisets/000001/draft/sub-1/1.nwb.zarr"), mode="r")
    assert np.array_equal(group["counts"][:], np.arange(300) + 1)
    told = object_store.get_object(Bucket="sources", Key="zarr/materialized.json")["Body"].read()
    assert json.loads(told)["counts"] == {"materialized": 1, "unchanged": 0}
    assert main(["run", str(config), *sets, "--set", "materialize.folder=s3://nowhere/zarr"]) == 1
    assert "s3://nowhere/zarr/: there is no bucket nowhere at " in capsys.readouterr().err


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ("materialize.folder={}/out/zarr", "outside of output"),
        ("materialize.max_memory=5000000000", "below run.memory_limit"),
        ("materialize.layout=ephis", "did you mean ephys|expected"),
    ],
)
def test_what_cannot_be_asked_for_is_refused(write_config, tmp_path, wrong, message):
    config = write_config(f"materialize: {{folder: {tmp_path}/zarr}}\n")
    with pytest.raises(ConfigError, match=message):
        load_config(config, changes=[wrong.format(tmp_path)])
