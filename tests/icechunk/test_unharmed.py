"""Whatever goes wrong, the repository is as it was: its tip, its values, and the next run gets in."""

import os
import signal
import subprocess
import sys

import h5py
import icechunk
import numpy as np
import pytest
import zarr

from shadowzarr import generate_rfs, open_rfs
from shadowzarr.cli import main
from shadowzarr.errors import CommitConflictError, SourceChangedError, SourceNotFoundError, UsageError
from shadowzarr.icechunk import commit_changes, icechunk_to_rfs, open_repository, rfs_to_icechunk

VALUES = np.arange(4000).reshape(40, 100)


@pytest.fixture
def source(tmp_path):
    path = tmp_path / "files" / "x.h5"
    path.parent.mkdir()
    with h5py.File(path, "w") as file:
        file.create_dataset("x", data=VALUES, chunks=(4, 100), compression="gzip")
    return path


@pytest.fixture
def repo(source, tmp_path):
    """A repository that holds the file in the group "first"."""
    made = open_repository(tmp_path / "repo", [source.as_uri()])
    commit_changes(
        made, "first", lambda session: rfs_to_icechunk(generate_rfs(source), session, group="first")
    )
    return made


def state(repo):
    """The tip, the history, and the places of chunks."""
    session = repo.readonly_session("main")
    history = [each.id for each in repo.ancestry(branch="main")]
    return repo.lookup_branch("main"), history, sorted(session.all_virtual_chunk_locations())


def works(repo, source, group):
    """The repository is read, and takes another commit."""
    root = zarr.open_group(repo.readonly_session("main").store, mode="r")
    assert np.array_equal(root["first/x"][...], VALUES)
    rfs = generate_rfs(source)
    assert commit_changes(repo, "next", lambda session: rfs_to_icechunk(rfs, session, group=group))
    assert sorted(zarr.open_group(repo.readonly_session("main").store, mode="r")) == sorted(["first", group])


def changed(path):
    """Other bytes, and a later time."""
    data = path.read_bytes()
    path.write_bytes(data + b"more")
    later = path.stat().st_mtime + 5
    os.utime(path, (later, later))
    return data


def test_a_source_that_changed_before_it_is_written(repo, source):
    rfs = generate_rfs(source)
    before = state(repo)
    data = changed(source)
    with pytest.raises(SourceChangedError, match=r"x\.h5 has \d+ bytes, and had \d+"):
        commit_changes(repo, "x", lambda session: rfs_to_icechunk(rfs, session, group="second"))
    assert state(repo) == before
    source.unlink()
    with pytest.raises(SourceNotFoundError, match=r"x\.h5 cannot be found"):
        commit_changes(repo, "x", lambda session: rfs_to_icechunk(rfs, session, group="second"))
    assert state(repo) == before
    source.write_bytes(data)
    os.utime(source, (1, 1))
    works(repo, source, "second")


def test_a_source_that_changed_afterwards(repo, source, tmp_path):
    before = state(repo)
    data, times = source.read_bytes(), source.stat()
    changed(source)
    array = zarr.open_array(repo.readonly_session("main").store, path="first/x", mode="r")
    with pytest.raises(icechunk.StorageError, match="checksum of the object .* has changed"):
        array[...]
    with pytest.raises(SourceChangedError):
        open_rfs(icechunk_to_rfs(repo.readonly_session("main"), group="first"))["x"][...]
    assert state(repo) == before
    source.write_bytes(data)
    os.utime(source, ns=(times.st_atime_ns, times.st_mtime_ns))
    works(repo, source, "second")


def test_a_missing_container(repo, source, tmp_path):
    other = tmp_path / "elsewhere" / "y.h5"
    other.parent.mkdir()
    other.write_bytes(source.read_bytes())
    rfs = generate_rfs(other)
    before = state(repo)
    with pytest.raises(UsageError, match="no virtual chunk container for .*/elsewhere/; nothing is written"):
        commit_changes(repo, "x", lambda session: rfs_to_icechunk(rfs, session, group="second"))
    assert state(repo) == before
    again = open_repository(tmp_path / "repo", [source.as_uri(), other.as_uri()])
    works(again, other, "second")


def test_a_container_that_is_not_authorised(repo, source, tmp_path):
    stranger = icechunk.Repository.open(icechunk.local_filesystem_storage(str(tmp_path / "repo")))
    before = state(repo)
    rfs = generate_rfs(source)
    with pytest.raises(UsageError, match="is not authorised, so its chunks could not be read; nothing"):
        commit_changes(stranger, "x", lambda session: rfs_to_icechunk(rfs, session, group="second"))
    with pytest.raises(icechunk.IcechunkError, match="authorize"):
        zarr.open_array(stranger.readonly_session("main").store, path="first/x", mode="r")[...]
    # Where chunks are may be asked by anybody; reading them is a matter of the files.
    found = icechunk_to_rfs(stranger.readonly_session("main"), group="first")
    assert np.array_equal(open_rfs(found)["x"][...], VALUES)
    assert state(repo) == before
    works(repo, source, "second")


def test_a_conflict_that_is_given_up(repo, source):
    rfs = generate_rfs(source)

    def write(session):
        number = len(list(repo.ancestry(branch="main")))
        rfs_to_icechunk(rfs, session, group="ours")
        other = repo.writable_session("main")
        rfs_to_icechunk(rfs, other, group=f"theirs-{number}")
        other.commit("theirs")

    with pytest.raises(CommitConflictError, match="nothing is committed"):
        commit_changes(repo, "ours", write, tries=2)
    root = zarr.open_group(repo.readonly_session("main").store, mode="r")
    assert sorted(root) == ["first", "theirs-2", "theirs-3"]
    assert all(np.array_equal(root[f"{name}/x"][...], VALUES) for name in root)


COMMITTER = """
import os, signal, sys, threading, time
import icechunk, numpy as np, zarr
from shadowzarr.icechunk import commit_changes, open_repository

icechunk.set_logs_filter("error")
repo = open_repository(sys.argv[1], create=False)

def write(session):
    data = np.random.default_rng(1).integers(0, 2**60, (200, 2000))
    zarr.create_array(session.store, name="second", data=data, chunks=(1, 2000))
    # Killed at some moment of the commit: it blocks this thread, not the one that kills.
    threading.Timer(float(sys.argv[2]), os.kill, (os.getpid(), signal.SIGKILL)).start()

commit_changes(repo, "second", write)
print("committed", flush=True)
"""


@pytest.mark.parametrize("moment", [0.0, 0.002, 0.02])
def test_killed_while_it_commits(repo, source, tmp_path, moment):
    """Before, in the middle or after: the commit is there whole, or not at all."""
    before = state(repo)
    command = [sys.executable, "-c", COMMITTER, str(tmp_path / "repo"), str(moment)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode in (0, -signal.SIGKILL), done.stderr
    again = open_repository(tmp_path / "repo", [source.as_uri()])
    root = zarr.open_group(again.readonly_session("main").store, mode="r")
    if "committed" in done.stdout or "second" in root:
        assert root["second"][...].shape == (200, 2000)
        assert state(again)[1][1:] == before[1]
    else:
        assert state(again) == before
        works(again, source, "third")


def test_a_conflict_in_a_bucket(object_store, source):
    """Where two processes may commit at once."""
    object_store.create_bucket(Bucket="repositories")
    object_store.put_object(Bucket="sources", Key="x.h5", Body=source.read_bytes())
    rfs = generate_rfs("s3://sources/x.h5")
    repo = open_repository("s3://repositories/r", ["s3://sources/x.h5"])
    tries = []

    def write(session):
        tries.append(len(tries))
        rfs_to_icechunk(rfs, session, group="ours")
        if len(tries) == 1:
            other = open_repository("s3://repositories/r", ["s3://sources/x.h5"]).writable_session("main")
            rfs_to_icechunk(rfs, other, group="theirs")
            other.commit("theirs")

    commit_changes(repo, "ours", write)
    assert len(tries) == 2
    root = zarr.open_group(repo.readonly_session("main").store, mode="r")
    assert sorted(root) == ["ours", "theirs"]
    assert np.array_equal(root["ours/x"][...], VALUES)


def test_the_command_says_so_in_one_line(repo, source, tmp_path, capsys):
    refs = tmp_path / "refs"
    assert main(["generate", str(source), str(refs)]) == 0
    before = state(repo)
    changed(source)
    capsys.readouterr()
    assert main(["icechunk", str(refs), str(tmp_path / "repo"), "--group", "second"]) == 1
    out, err = capsys.readouterr()
    assert out == ""
    assert err.count("\n") == 1
    assert "generate the references again" in err
    assert state(repo) == before
