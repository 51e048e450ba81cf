"""Where stores are made: what is seen meanwhile, early ends, and what is refused."""

import json
import os
import resource
import signal
import subprocess
import sys
import zipfile

import h5py
import numpy as np
import pytest
import zarr
from materialized import chunk_files, differences

from shadowzarr import generate_rfs, materialize, write_rfs
from shadowzarr.access.http_client import RetryPolicy
from shadowzarr.access.range_reader import DefaultReader
from shadowzarr.errors import OutputBusyError, OutputError, ReadError, SourceChangedError, UsageError
from shadowzarr.export.materialize.folder_place import FolderPlace
from shadowzarr.export.materialize.place import NOTE
from shadowzarr.export.materialize.store_place import StorePlace
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


def keys(client, prefix):
    found = client.list_objects_v2(Bucket="sources", Prefix=prefix).get("Contents", [])
    return {each["Key"].removeprefix(prefix): each["LastModified"] for each in found}


class TestBucket:
    def test_values(self, object_store, recording):
        from shadowzarr.export.materialize.buckets import bucket_store

        rfs = generate_rfs(recording)
        materialize(rfs, "s3://sources/one/out.zarr", layout=cut, verify=True)
        assert NOTE not in keys(object_store, "one/out.zarr/")
        assert differences(rfs, opened(bucket_store("s3://sources/one/out.zarr"))) == []
        with pytest.raises(OutputError, match=r"s3://sources/one/out.zarr is not empty, with"):
            materialize(rfs, "s3://sources/one/out.zarr")

    def test_after_an_early_end(self, object_store, recording):
        """Nothing can be opened, and what was written is not written again."""
        rfs = generate_rfs(recording)
        good = recording.read_bytes()
        recording.write_bytes(good[:-1])
        with pytest.raises(SourceChangedError) as nothing:
            materialize(rfs, "s3://sources/two", layout=cut)
        assert "so far" not in str(nothing.value)
        assert keys(object_store, "two/") == {}
        recording.write_bytes(good)
        interrupted(rfs, "s3://sources/two")
        recording.write_bytes(good[:-1])
        with pytest.raises(SourceChangedError, match="so far stays in s3://sources/two: remove it, or name"):
            materialize(rfs, "s3://sources/two", layout=cut)
        recording.write_bytes(good)
        before = keys(object_store, "two/")
        assert NOTE in before
        assert not [key for key in before if key.endswith("zarr.json")]
        with pytest.raises(OutputError, match="from other references, or with another layout"):
            materialize(rfs, "s3://sources/two")
        report = materialize(rfs, "s3://sources/two", layout=cut)
        after = keys(object_store, "two/")
        assert {key: after[key] for key in before if key != NOTE} == {
            key: value for key, value in before.items() if key != NOTE
        }
        found = {array.path: array.found for array in report.arrays}["wave/data"]
        assert 0 < found == sum(key.startswith("wave/data/") for key in before)
        assert NOTE not in after

    def test_no_such_bucket(self, object_store, recording):
        with pytest.raises(OutputError, match="cannot look into s3://nowhere-1/x"):
            materialize(generate_rfs(recording), "s3://nowhere-1/x")
        with pytest.raises(UsageError, match="names no"):
            materialize(generate_rfs(recording), "s3://sources")


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
import os, signal, sys, threading, zipfile
from shadowzarr import materialize

events, pause, file_count = int(sys.argv[3]), float(sys.argv[4]), int(sys.argv[5])
seen, packed, pack = [], [], zipfile.ZipFile.write

def end():
    os.kill(os.getpid(), signal.SIGKILL)

def hear(event):
    seen.append(event)
    if len(seen) == events:
        threading.Timer(pause, end).start() if pause else end()

def packing(self, *arguments):
    packed.append(arguments)
    if len(packed) == file_count:
        end()
    pack(self, *arguments)

zipfile.ZipFile.write = packing
cut = {"chunks": (50, 3)}
materialize(sys.argv[1], sys.argv[2], layout=lambda *_: cut, max_memory=2**20, progress=hear)
"""


def test_killed_at_several_moments(tmp_path):
    """Before, while and after chunks are written: nothing opens, and the rest makes the same file."""
    path = tmp_path / "x.h5"
    data = np.random.default_rng(0).integers(-2000, 2000, (5000, 24)).astype("i2")
    with h5py.File(path, "w") as file:
        file.create_dataset("data", data=data, chunks=(70, 24), compression="gzip")
    write_rfs(generate_rfs(path), tmp_path / "refs")
    out, data_there = tmp_path / "out.zip", []
    for moment in ((1, 0, 0), (4, 0.005, 0), (10**6, 0, 300)):
        arguments = [tmp_path / "refs", out, *moment]
        child = subprocess.run([sys.executable, "-c", CHILD, *map(str, arguments)], check=False)
        assert child.returncode == -signal.SIGKILL
        assert not out.exists()
        data_there.append(len(chunk_files(tmp_path / "out.zip.partial" / "data", "data")))
    assert data_there[0] < data_there[1] < data_there[2] == 800
    cut = {"chunks": (50, 3)}
    report = materialize(tmp_path / "refs", out, layout=lambda *_: cut)
    assert (report.arrays[0].found, report.arrays[0].written) == (800, 0)
    materialize(tmp_path / "refs", tmp_path / "whole", layout=lambda *_: cut)
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
            again = server.log.bytes_sent
            assert differences(rfs, opened(tmp_path / "out")) == []
        by_path = {array.path: array for array in report.arrays}
        assert by_path["wave/data"].found == len(written)
        assert again < recording.stat().st_size
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

    def test_one_that_is_refused_leaves_the_folder_of_the_other(self, recording, tmp_path):
        with FolderPlace(tmp_path / "out").held():
            with pytest.raises(OutputBusyError):
                materialize(generate_rfs(recording), tmp_path / "out")
            assert (tmp_path / PARTIAL).is_dir()
        assert not (tmp_path / PARTIAL).exists()  # nothing was written

    def test_a_folder_that_was_taken_away_meanwhile(self, recording, tmp_path, monkeypatch):
        opening = os.open

        def replaced(path, *arguments, **options):
            found = opening(path, *arguments, **options)
            if str(path).endswith(PARTIAL):
                path.rmdir()
            return found

        monkeypatch.setattr(os, "open", replaced)
        with pytest.raises(OutputBusyError, match="another run is making"):
            materialize(generate_rfs(recording), tmp_path / "out")

    def test_of_two_at_once_in_a_store_the_first_note_counts(self, recording):
        """Both found it empty."""
        store = zarr.storage.MemoryStore()
        first, second = (StorePlace(store, name) for name in ("first", "second"))
        assert first._set_note(b'{"plan": "a"}') == "a"
        assert second._set_note(b'{"plan": "b"}') == "a"


class TestErrors:
    def test_a_changed_source(self, recording, tmp_path):
        rfs = generate_rfs(recording)
        recording.write_bytes(recording.read_bytes() + b"more")
        with pytest.raises(SourceChangedError) as changed:
            materialize(rfs, tmp_path / "out")
        assert "so far" not in str(changed.value)
        assert [path.name for path in tmp_path.iterdir()] == [recording.name]
        again = generate_rfs(recording)  # which goes its way, since nothing is left of the other
        materialize(again, tmp_path / "out")
        assert differences(again, opened(tmp_path / "out")) == []

    def test_a_source_that_changes_in_the_middle(self, recording, tmp_path):
        """What is there is of use with the former file alone, so nobody is sent to the same call."""
        rfs, good = generate_rfs(recording), recording.read_bytes()
        interrupted(rfs, tmp_path / "out")
        recording.write_bytes(good + b"more")
        with pytest.raises(
            SourceChangedError, match=r"so far is in .*out\.partial: remove it, or name"
        ) as told:
            materialize(rfs, tmp_path / "out", layout=cut)
        assert "same call" not in str(told.value)
        with pytest.raises(OutputError, match=r"from other references.*; remove it, or name another place"):
            materialize(generate_rfs(recording), tmp_path / "out", layout=cut)
        recording.write_bytes(good)
        materialize(rfs, tmp_path / "out", layout=cut)
        assert differences(rfs, opened(tmp_path / "out")) == []

    def test_an_interruption_says_what_stays(self, recording, tmp_path):
        def stop(event):
            if event.path == "wave/data" and event.nbytes:
                raise KeyboardInterrupt

        with pytest.raises(KeyboardInterrupt) as ended:
            materialize(
                generate_rfs(recording),
                tmp_path / "out",
                layout=cut,
                threads=1,
                progress=stop,
                max_memory=2**20,
            )
        kept = chunk_files(tmp_path / PARTIAL / "data", "wave/data")
        assert kept
        assert ended.value.__notes__ == [
            f"what is written so far is in {tmp_path / PARTIAL}, and the same call goes on from there"
        ]

    def test_a_source_that_cannot_be_reached(self, recording, tmp_path):
        with RangeServer(recording.parent) as server:
            rfs = generate_rfs(server.url(recording.name))
        reader = DefaultReader(retries=RetryPolicy(attempts=1))
        with pytest.raises(ReadError, match="recording.h5"):
            materialize(rfs, tmp_path / "out", reader=reader)
        assert [path.name for path in tmp_path.iterdir()] == [recording.name]

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
