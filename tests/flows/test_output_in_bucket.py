"""Flows and commands whose output is in a bucket of an S3 service on loopback."""

import os
from pathlib import Path

import h5py
import numpy as np
import pytest

from flows.__main__ import main
from flows.load_config import load_config
from shadowzarr.store.open_rfs import open_rfs

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::ResourceWarning")

THREE = "--set=dandisets.0.include=sub-[012]/*"
DRAFT = "out/dandisets/000001/draft"


@pytest.fixture
def config(write_config, object_store, tmp_path, monkeypatch) -> Path:
    """One whose endpoint stands in the configuration, and in no variable."""
    endpoint = os.environ["AWS_ENDPOINT_URL"]
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "hidden-key-of-the-bucket")
    path = write_config()
    text = path.read_text().replace(
        f"output: {tmp_path / 'out'}",
        f"output: {{folder: 's3://sources/out', endpoint: '{endpoint}', work_folder: '{tmp_path / 'work'}'}}",
    )
    path.write_text(text)
    return path


def stored(client, prefix: str = "out/") -> dict[str, bytes]:
    found = client.list_objects_v2(Bucket="sources", Prefix=prefix).get("Contents", [])
    return {
        each["Key"]: client.get_object(Bucket="sources", Key=each["Key"])["Body"].read() for each in found
    }


def of_assets(files: dict[str, bytes]) -> dict[str, bytes]:
    return {name: content for name, content in files.items() if "/dandisets/" in name}


def test_indexed_into_a_bucket_looked_up_and_followed(
    prefect_server, config, object_store, tmp_path, capsys, monkeypatch
):
    assert main(["plan", str(config), THREE]) == 0
    assert "3 assets would be indexed into s3://sources/out" in capsys.readouterr().out
    assert stored(object_store) == {}
    assert main(["run", str(config), THREE]) == 0
    assert "report: s3://sources/out/report.html" in capsys.readouterr().out.replace("report  ", "report: ")
    first = stored(object_store)
    assert not [name for name, content in first.items() if b"hidden-key" in content]
    assert not any(b"hidden-key" in path.read_bytes() for path in tmp_path.rglob("*") if path.is_file())
    for name in of_assets(first):  # as a bucket that the public may read
        object_store.put_object_acl(Bucket="sources", Key=name, ACL="public-read")
    with h5py.File(tmp_path / "files" / "1.nwb") as file:
        root = os.environ["AWS_ENDPOINT_URL"] + "/sources/"
        for place in ("s3://sources/", root):
            group = open_rfs(f"{place}{DRAFT}/sub-1/1.nwb.shadowzarr")
            assert np.array_equal(group["counts"][:], file["counts"][:])
            assert np.array_equal(group["series/values"][:], file["series/values"][:])

    # a second run looks, and does nothing
    monkeypatch.delenv("PREFECT_API_URL", raising=False)
    with monkeypatch.context() as patch:
        patch.setattr("flows.commands._run_flow", None)
        assert main(["run", str(config), THREE]) == 0
    assert of_assets(stored(object_store)) == of_assets(first)
    check_commands(object_store, tmp_path, capsys)


def check_commands(object_store, tmp_path, capsys) -> None:
    capsys.readouterr()
    url = "s3://sources/out"
    assert main(["catalog", "find", url, "sub-1/1.nwb"]) == 0
    assert f"references  s3://sources/{DRAFT}/sub-1/1.nwb.shadowzarr\n" in capsys.readouterr().out
    question = "SELECT asset_path FROM objects WHERE path = 'counts' ORDER BY 1"
    answers = []
    for _ in range(2):
        assert main(["catalog", "query", url, question, "--format", "csv"]) == 0
        answers.append(capsys.readouterr().out.split())
        for name in stored(object_store, "out/catalog/"):
            object_store.delete_object(Bucket="sources", Key=name)
        assert main(["catalog", "query", url, question]) == 1
        assert "catalog rebuild s3://sources/out" in capsys.readouterr().err
        assert main(["catalog", "rebuild", url]) == 0
        capsys.readouterr()
    assert answers == [["asset_path", "sub-0/0.nwb", "sub-1/1.nwb", "sub-2/2.nwb"]] * 2
    assert not list((tmp_path / "work").rglob("reading/*"))


def test_two_runs_at_once_a_wrong_bucket_and_no_access_are_one_message_each(
    config, object_store, tmp_path, capsys
):
    elsewhere = f"output.work_folder={tmp_path}/another machine"
    with load_config(config).request.public.store.held():
        for changes in ([], ["--set", elsewhere]):
            assert main(["run", str(config), *changes]) == 1
            printed = capsys.readouterr()
            assert printed.err.startswith("another run (process ")
            assert "is writing to s3://sources/out" in printed.err
            assert len(printed.err.splitlines()) == 1
    assert main(["run", str(config), "--set", "output.folder=s3://nowhere/out"]) == 1
    printed = capsys.readouterr()
    assert "there is no bucket nowhere at http://127.0.0.1" in printed.err
    assert len(printed.err.splitlines()) == 1
    assert main(["plan", str(config), "--set", "output.folder=s3://nowhere/out"]) == 1
    assert "there is no bucket nowhere" in capsys.readouterr().err
