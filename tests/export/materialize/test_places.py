"""Where stores are made: what is seen meanwhile, early ends, and what is refused."""

import json
import os
import resource
import signal
import subprocess
import sys
import time
import zipfile

import h5py
import numpy as np
import pytest
import zarr
from materialized import chunk_files, differences

from shadowzarr import generate_rfs, materialize, write_rfs
from shadowzarr.errors import OutputBusyError, OutputError, ReadError, SourceChangedError, UsageError
from shadowzarr.export.materialize.places import NOTE, FolderPlace
from shadowzarr.testing import RangeServer

CUT = {"chunks": (250, 5)}
PARTIAL = "out.partial"


def cut(path, array):
    return CUT if array.ndim == 2 else None


def opened(place, **options):
    return zarr.open_group(place, mode="r", use_consolidated=False, **options)


def test_a_zip_file(recording, tmp_path):
    rfs = generate_rfs(recording)
    materialize(rfs, tmp_path / "out.zip", verify=True)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["out.zip", "recording.h5"]
    store = zarr.storage.ZipStore(tmp_path / "out.zip", mode="r")
    assert differences(rfs, opened(store)) == []
    store.close()
    with zipfile.ZipFile(tmp_path / "out.zip") as made:
        assert {info.compress_type for info in made.infolist()} == {zipfile.ZIP_STORED}


def test_any_store(recording):
    rfs, store = generate_rfs(recording), zarr.storage.MemoryStore()
    materialize(rfs, store, layout=cut)
    assert differences(rfs, opened(store)) == []
    with pytest.raises(OutputError, match="is not empty, with"):
        materialize(rfs, store)


class TestSession:
    def test_values_and_another_write(self, recording, tmp_path):
        icechunk = pytest.importorskip("icechunk")
        icechunk.set_logs_filter("error")
        repo = icechunk.Repository.create(icechunk.local_filesystem_storage(str(tmp_path / "repo")))
        rfs, session = generate_rfs(recording), repo.writable_session("main")
        materialize(rfs, session, layout=cut, verify=True)
        session.commit("x")
        session = repo.writable_session("main")
        assert differences(rfs, opened(session.store)) == []
        assert session.all_virtual_chunk_locations() == []
        with pytest.raises(OutputError, match="the Icechunk session is not empty, with 'scale'"):
            materialize(rfs, session)
        with pytest.raises(UsageError, match="read-only"):
            materialize(rfs, repo.readonly_session("main"))


@pytest.fixture(scope="module")
def bucket():
    server = pytest.importorskip("moto.server")
    boto3 = pytest.importorskip("boto3")
    running = server.ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    running.start()
    endpoint = "http://{}:{}".format(*running.get_host_and_port())
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("AWS_ENDPOINT_URL", endpoint)
        patch.setenv("AWS_REGION", "us-east-1")
        patch.setenv("AWS_ACCESS_KEY_ID", "a")
        patch.setenv("AWS_SECRET_ACCESS_KEY", "s")
        client = boto3.client("s3", endpoint_url=endpoint, region_name="us-east-1")
        client.create_bucket(Bucket="stores")
        yield client
    running.stop()


def keys(client, prefix):
    found = client.list_objects_v2(Bucket="stores", Prefix=prefix).get("Contents", [])
    return {each["Key"].removeprefix(prefix): each["LastModified"] for each in found}


class TestBucket:
    def test_values(self, bucket, recording):
        from shadowzarr.export.materialize.buckets import bucket_store

        rfs = generate_rfs(recording)
        materialize(rfs, "s3://stores/one/out.zarr", layout=cut, verify=True)
        assert NOTE not in keys(bucket, "one/out.zarr/")
        assert differences(rfs, opened(bucket_store("s3://stores/one/out.zarr"))) == []
        with pytest.raises(OutputError, match=r"s3://stores/one/out.zarr is not empty, with"):
            materialize(rfs, "s3://stores/one/out.zarr")

    def test_after_an_early_end(self, bucket, recording):
        """Nothing can be opened, and what was written is not written again."""
        rfs = generate_rfs(recording)
        good = recording.read_bytes()
        recording.write_bytes(good[:-1])
        with pytest.raises(SourceChangedError, match="stays in s3://stores/two, and the same call goes on"):
            materialize(rfs, "s3://stores/two", layout=cut)
        recording.write_bytes(good)
        interrupted(rfs, "s3://stores/two")
        before = keys(bucket, "two/")
        assert NOTE in before
        assert not [key for key in before if key.endswith("zarr.json")]
        with pytest.raises(OutputError, match="from other references, or with another layout"):
            materialize(rfs, "s3://stores/two")
        report = materialize(rfs, "s3://stores/two", layout=cut)
        after = keys(bucket, "two/")
        assert {key: after[key] for key in before if key != NOTE} == {
            key: value for key, value in before.items() if key != NOTE
        }
        assert sum(array.found for array in report.arrays) == len(before) - 1
        assert NOTE not in after

    def test_no_such_bucket(self, bucket, recording):
        with pytest.raises(OutputError, match="cannot look into s3://nowhere-1/x"):
            materialize(generate_rfs(recording), "s3://nowhere-1/x")
        with pytest.raises(UsageError, match="names no"):
            materialize(generate_rfs(recording), "s3://stores")


class StopHereError(Exception):
    pass


def interrupted(rfs, out):
    """Run until part of the recording is written, and end by an error of the caller's own."""
    seen = []

    def stop(event):
        seen.extend([event] * (event.path == "wave/data"))
        if len(seen) == 2:
            raise StopHereError

    with pytest.raises(StopHereError):
        materialize(rfs, out, layout=cut, threads=1, progress=stop, max_memory=2**20)


CHILD = """
import sys
from shadowzarr import materialize
print("go", flush=True)
materialize(sys.argv[1], sys.argv[2], layout=lambda path, array: {"chunks": (50, 3)}, max_memory=2**20)
"""


def test_killed_at_random_moments(tmp_path):
    """The result is that of an undisturbed run, and nothing opens before."""
    path = tmp_path / "x.h5"
    data = np.random.default_rng(0).integers(-2000, 2000, (5000, 24)).astype("i2")
    with h5py.File(path, "w") as file:
        file.create_dataset("data", data=data, chunks=(70, 24), compression="gzip")
    write_rfs(generate_rfs(path), tmp_path / "refs")
    out, kills = tmp_path / "out.zip", 0
    for wait in (0.05, 0.3, 0.1, 0.2, 0.5):
        child = subprocess.Popen(
            [sys.executable, "-c", CHILD, str(tmp_path / "refs"), str(out)], stdout=subprocess.PIPE, text=True
        )
        assert child.stdout.readline() == "go\n"
        time.sleep(wait)
        child.send_signal(signal.SIGKILL)
        kills += child.wait() == -signal.SIGKILL
        child.stdout.close()
        if not out.exists():
            assert not (tmp_path / "out.zip.partial" / "data" / "zarr.json").exists()
    assert kills
    if not out.exists():
        subprocess.run(
            [sys.executable, "-c", CHILD, str(tmp_path / "refs"), str(out)],
            check=True,
            stdout=subprocess.DEVNULL,
        )
    materialize(tmp_path / "refs", tmp_path / "whole", layout=lambda *_: {"chunks": (50, 3)})
    with zipfile.ZipFile(out) as made:
        names = {name: made.read(name) for name in made.namelist()}
    whole = tmp_path / "whole"
    assert names == {
        file.relative_to(whole).as_posix(): file.read_bytes() for file in whole.rglob("*") if file.is_file()
    }
    assert not (tmp_path / "out.zip.partial").exists()


class TestEarlyEnds:
    def test_only_what_is_missing_is_read_again(self, recording, tmp_path):
        folder = recording.parent
        with RangeServer(folder) as server:
            rfs = generate_rfs(server.url(recording.name))
            interrupted(rfs, tmp_path / "out")
            written = chunk_files(tmp_path / PARTIAL / "data", "wave/data")
            assert written
            server.log.clear()
            report = materialize(rfs, tmp_path / "out", layout=cut, threads=1, max_memory=2**20)
            again = sum(request.length for request in server.log)
        by_path = {array.path: array for array in report.arrays}
        assert by_path["wave/data"].found == len(written)
        assert again < recording.stat().st_size
        assert differences(rfs, opened(tmp_path / "out")) == []
        assert not (tmp_path / PARTIAL).exists()

    def test_verification_does_not_trust_what_is_there(self, recording, tmp_path):
        rfs = generate_rfs(recording)
        interrupted(rfs, tmp_path / "out")
        name = chunk_files(tmp_path / PARTIAL / "data", "wave/data")[0]
        file = tmp_path / PARTIAL / "data" / "wave" / "data" / name
        array = zarr.create_array(
            {}, shape=(250, 5), chunks=(250, 5), dtype="i2", config={"write_empty_chunks": True}
        )
        array[:] = 0
        file.write_bytes(
            zarr.core.sync.sync(
                array.store.get("c/0/0", zarr.core.buffer.default_buffer_prototype())
            ).to_bytes()
        )
        with pytest.raises(OutputError, match="reads back from .* with other values at"):
            materialize(rfs, tmp_path / "out", layout=cut, verify=True)

    def test_another_layout_is_another_run(self, recording, tmp_path):
        rfs = generate_rfs(recording)
        interrupted(rfs, tmp_path / "out")
        with pytest.raises(OutputError, match="out.partial holds what an earlier run has written from other"):
            materialize(rfs, tmp_path / "out")

    def test_what_zarr_had_not_renamed_goes(self, recording, tmp_path):
        rfs = generate_rfs(recording)
        interrupted(rfs, tmp_path / "out")
        left = tmp_path / PARTIAL / "data" / "wave" / "data" / "c" / f"7.{'0' * 32}.partial"
        left.write_bytes(b"half")
        materialize(rfs, tmp_path / "out", layout=cut)
        assert not list((tmp_path / "out").rglob("*.partial"))

    def test_a_folder_that_is_not_ours(self, recording, tmp_path):
        (tmp_path / PARTIAL).mkdir()
        (tmp_path / PARTIAL / "mine").write_text("x")
        with pytest.raises(OutputError, match="is no folder of ours"):
            materialize(generate_rfs(recording), tmp_path / "out")
        assert (tmp_path / PARTIAL / "mine").read_text() == "x"

    def test_two_at_a_time(self, recording, tmp_path):
        with (
            FolderPlace(tmp_path / "out").held(),
            pytest.raises(OutputBusyError, match="another run is making"),
        ):
            materialize(generate_rfs(recording), tmp_path / "out")


class TestErrors:
    def test_a_changed_source(self, recording, tmp_path):
        rfs = generate_rfs(recording)
        recording.write_bytes(recording.read_bytes() + b"more")
        with pytest.raises(SourceChangedError, match="what is written so far is in"):
            materialize(rfs, tmp_path / "out")
        assert not (tmp_path / "out").exists()

    def test_a_source_that_cannot_be_reached(self, recording, tmp_path):
        with RangeServer(recording.parent) as server:
            rfs = generate_rfs(server.url(recording.name))
        with pytest.raises(ReadError):
            materialize(rfs, tmp_path / "out")
        assert not (tmp_path / "out").exists()

    def test_a_full_disk(self, recording, tmp_path):
        rfs = generate_rfs(recording)
        before = resource.getrlimit(resource.RLIMIT_FSIZE)
        usual = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        try:
            resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, before[1]))
            with pytest.raises(OutputError, match="cannot write '/wave/data' to .*out: File too large"):
                materialize(rfs, tmp_path / "out")
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, before)
            signal.signal(signal.SIGXFSZ, usual)
        report = materialize(rfs, tmp_path / "out")  # goes on
        assert differences(rfs, opened(tmp_path / "out")) == []
        assert report.arrays

    def test_a_folder_that_is_not_there_or_not_writable(self, recording, tmp_path):
        rfs = generate_rfs(recording)
        with pytest.raises(OutputError, match="there is no folder"):
            materialize(rfs, tmp_path / "no" / "out")
        if os.geteuid():
            (tmp_path / "closed").mkdir(mode=0o500)
            with pytest.raises(OutputError, match="Permission denied"):
                materialize(rfs, tmp_path / "closed" / "out")

    def test_a_codec_that_loses_precision_is_found(self, tmp_path):
        path = tmp_path / "x.h5"
        with h5py.File(path, "w") as file:
            file.create_dataset("x", data=np.random.default_rng(0).random(5000), chunks=(1000,))
        rounding = zarr.codecs.numcodecs.BitRound(keepbits=3)
        with pytest.raises(
            OutputError, match="array '/x' reads back from .* a codec of its layout that loses"
        ):
            materialize(
                generate_rfs(path), tmp_path / "out", layout=lambda *_: {"filters": [rounding]}, verify=True
            )

    def test_places_that_are_none(self, recording):
        rfs = generate_rfs(recording)
        with pytest.raises(UsageError, match="is no place for a store"):
            materialize(rfs, 5)
        with pytest.raises(UsageError, match="is no place for a store here"):
            materialize(rfs, "https://example.org/out")
        with pytest.raises(UsageError, match="strict_json means nothing"):
            materialize(rfs, "x", strict_json=True)


def test_the_note_names_the_plan(recording, tmp_path):
    rfs = generate_rfs(recording)
    interrupted(rfs, tmp_path / "out")
    assert len(json.loads((tmp_path / PARTIAL / "plan.json").read_text())["plan"]) == 32
