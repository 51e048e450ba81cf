"""The flow materialize_assets under a Prefect server, into a bucket, and its plan."""

import json
import os
import shutil

import numpy as np
import pytest

from flows.__main__ import main
from flows.load_config import load_config
from shadowzarr.catalog.index_run import index_dandisets
from shadowzarr.errors import ConfigError
from shadowzarr.store.http_store import HttpStore

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::ResourceWarning")


@pytest.fixture
def config(archive, object_store, tmp_path):
    path = tmp_path / "materialize.yaml"
    path.write_text(
        f"flow: materialize_assets\narchive: {archive.api_url}\nreferences: {tmp_path}/out\n"
        f"destination: {{folder: 's3://sources/zarr', endpoint: '{os.environ['AWS_ENDPOINT_URL']}', "
        f"work_folder: '{tmp_path}/work'}}\ninclude: ['sub-[12]/*']\n"
        "run: {concurrency: 1, retries: 0, timeout: 60}\n"
    )
    return path


def test_materialized_into_a_bucket_once_and_a_failure_named(
    prefect_server, config, write_config, object_store, tmp_path, capsys, monkeypatch
):
    assert main(["run", str(config)]) == 1
    assert capsys.readouterr().err == f"the output {tmp_path}/out does not exist\n"
    changes = ["dandisets.0.include=sub-[12]/*"]
    index_dandisets(load_config(write_config(), changes=changes).request)
    assert main(["plan", str(config)]) == 0
    assert "2 assets would be materialized into s3://sources/zarr" in capsys.readouterr().out
    gone = tmp_path / "out/dandisets/000001/draft/sub-2/2.nwb.shadowzarr"
    shutil.move(gone, tmp_path / "aside")
    assert main(["run", str(config)]) == 1
    printed = capsys.readouterr()
    assert "failed  000001 draft  sub-2/2.nwb  " in printed.err
    assert "2.nwb.shadowzarr is gone" in printed.err
    import zarr

    group = zarr.open_group(HttpStore("s3://sources/zarr/dandisets/000001/draft/sub-1/1.nwb.zarr"), mode="r")
    assert np.array_equal(group["counts"][:], np.arange(300) + 1)
    with monkeypatch.context() as patch:  # a second run with nothing to do starts no Prefect
        patch.setattr("flows.under_prefect.under_prefect", None)
        assert main(["run", str(config), "--set", "include=sub-1/*"]) == 0
    assert "unchanged" in capsys.readouterr().out
    told = object_store.get_object(Bucket="sources", Key="zarr/materialized.json")["Body"].read()
    assert json.loads(told)["counts"] == {"materialized": 1, "failed": 1, "unchanged": 0}
    with load_config(config).target.store.held():
        assert main(["run", str(config)]) == 1
    assert "another run (process " in capsys.readouterr().err


def test_what_cannot_be_asked_for_is_refused(config, tmp_path, capsys):
    for wrong, message in (
        (f"destination={tmp_path}/out/zarr", "outside of references"),
        ("max_memory=5000000000", "below run.memory_limit"),
        ("layout=ephis", "did you mean ephys|expected"),
        ("destination.folder=s3://", "no place in a bucket"),
    ):
        with pytest.raises(ConfigError, match=message):
            load_config(config, changes=[wrong])
    assert main(["run", str(config), "--set", "destination.folder=s3://nowhere/x"]) == 1
