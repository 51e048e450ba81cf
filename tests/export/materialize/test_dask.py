"""Workers of Dask, in processes of their own, write the same store, and fail as this process does."""

import os

import h5py
import numpy as np
import pytest
import zarr
from materialized import chunk_files, differences

from shadowzarr import generate_rfs, materialize, open_rfs
from shadowzarr.errors import SourceChangedError, UsageError
from shadowzarr.export.materialize import write_plan
from shadowzarr.export.materialize.jobs import run_in_dask

distributed = pytest.importorskip("distributed")

pytestmark = pytest.mark.xdist_group("dask")  # one cluster is enough


@pytest.fixture(scope="module")
def client():
    options = {"n_workers": 2, "threads_per_worker": 1, "processes": True, "dashboard_address": ":0"}
    with distributed.LocalCluster(**options) as cluster, distributed.Client(cluster) as client:
        yield client


def open_group(place):
    return zarr.open_group(place, mode="r", use_consolidated=False)


def cut(path, array):
    return {"chunks": (2000, 24)} if array.ndim == 2 else None


def test_values(client, tmp_path, monkeypatch):
    path, heard, parts = tmp_path / "x.h5", [], []
    data = np.random.default_rng(0).integers(-2000, 2000, (80_000, 24)).astype("i2")
    with h5py.File(path, "w") as file:
        file.create_dataset("data", data=data, chunks=(1500, 24))
        file.create_dataset("copied", data=data[:, 0], chunks=(60,))
        file["name"] = "text"
    monkeypatch.setattr(
        write_plan, "run_in_dask", lambda *given: (parts.extend(given[3]), run_in_dask(*given))[1]
    )
    rfs, out = generate_rfs(path), tmp_path / "out"
    report = materialize(rfs, out, layout=cut, client=client, max_memory=2**20, progress=heard.append)
    assert differences(rfs, open_group(out)) == []
    assert sum(part.array.path == "data" for part in parts) == 14  # three units each: there both cuts meet
    assert sum(part.array.path == "copied" for part in parts) == 2
    assert (heard[-1].nbytes, heard[-1].arrays) == (heard[-1].total, heard[-1].array_count)
    here = materialize(rfs, tmp_path / "here", layout=cut)
    assert {array.path: (array.how, array.written) for array in here.arrays} == {
        "data": ("rewritten", 40),
        "copied": ("copied", 1334),
    }
    assert report.arrays == here.arrays
    for array in here.arrays:
        for name in chunk_files(out, array.path):
            there = tmp_path / "here" / array.path / name
            assert (out / array.path / name).read_bytes() == there.read_bytes()


def test_workers_read_one_store(client, recording):
    array = open_rfs(generate_rfs(recording))["wave/data"]
    with h5py.File(recording) as file:
        expected = file["wave/data"][...]
    parts = client.map(lambda first: array[first : first + 250], range(0, 4000, 250))
    assert np.array_equal(np.concatenate(client.gather(parts)), expected)
    assert len(client.who_has(parts)) == 16


def test_a_bucket(client, object_store, recording):
    """Each worker has its own credentials; none are sent."""
    from shadowzarr.export.materialize.buckets import bucket_store

    client.run(os.environ.update, {k: v for k, v in os.environ.items() if k.startswith("AWS_")})
    rfs = generate_rfs(recording)
    materialize(rfs, "s3://sources/out", layout=cut, client=client, verify=True)
    assert differences(rfs, open_group(bucket_store("s3://sources/out"))) == []


def test_a_changed_source(client, recording, tmp_path):
    rfs = generate_rfs(recording)
    good = recording.read_bytes()
    recording.write_bytes(good + b"more")
    with pytest.raises(SourceChangedError, match=r"recording\.h5.*; what is written so far is in"):
        materialize(rfs, tmp_path / "out", layout=cut, client=client)
    assert not (tmp_path / "out").exists()


def test_a_place_that_workers_do_not_have(client, recording):
    with pytest.raises(UsageError, match="workers of Dask cannot write there"):
        materialize(generate_rfs(recording), zarr.storage.MemoryStore(), client=client)
