"""Workers of Dask, in processes of their own, write the same store, and fail as this process does."""

import os

import pytest
import zarr
from materialized import chunk_files, differences

from shadowzarr import generate_rfs, materialize
from shadowzarr.errors import SourceChangedError, UsageError

distributed = pytest.importorskip("distributed")


@pytest.fixture(scope="module")
def client():
    options = {"n_workers": 2, "threads_per_worker": 1, "processes": True, "dashboard_address": None}
    with distributed.LocalCluster(**options) as cluster, distributed.Client(cluster) as client:
        yield client


def open_group(place):
    return zarr.open_group(place, mode="r", use_consolidated=False)


def cut(path, array):
    return {"chunks": (50, 5)} if array.ndim == 2 else None


def test_values(client, recording, tmp_path):
    rfs, heard = generate_rfs(recording), []
    out = tmp_path / "out"
    report = materialize(rfs, out, layout=cut, client=client, max_memory=2**20, progress=heard.append)
    assert differences(rfs, open_group(out)) == []
    by_path = {array.path: array for array in report.arrays}
    assert by_path["wave/data"].written == len(chunk_files(out, "wave/data")) == 80 * 5
    assert by_path["wave/times"].how == "copied"
    assert (heard[-1].nbytes, heard[-1].arrays) == (heard[-1].total, heard[-1].array_count)
    here = materialize(rfs, tmp_path / "here", layout=cut)
    assert [(a.path, a.written, a.stored_nbytes) for a in report.arrays] == [
        (a.path, a.written, a.stored_nbytes) for a in here.arrays
    ]
    for path in ("wave/data", "wave/times"):
        for name in chunk_files(out, path):
            there = tmp_path / "here" / path / name
            assert (out / path / name).read_bytes() == there.read_bytes()


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
