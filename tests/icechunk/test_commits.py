"""Commits on a conflict, runs that are killed, tags, and what expires."""

import datetime
import os
import signal
import subprocess
import sys
import threading

import icechunk
import pytest
import zarr

from shadowzarr import RfsBuilder
from shadowzarr.errors import CommitConflictError, ShadowzarrError, UsageError
from shadowzarr.icechunk import (
    Retention,
    commit_changes,
    expire_snapshots,
    open_repository,
    rfs_to_icechunk,
    tag_version,
)
from shadowzarr.icechunk.commits import side_snapshot


@pytest.fixture
def repo(tmp_path):
    return open_repository(tmp_path / "repo")


def add(session, name):
    rfs_to_icechunk(RfsBuilder().build(), session, group=name)


def names(repo, **at):
    return sorted(zarr.open_group(repo.readonly_session(**(at or {"branch": "main"})).store, mode="r"))


def test_one_commit_for_a_run(repo):
    def write(session):
        add(session, "a")
        add(session, "b")

    snapshot = commit_changes(repo, "two files", write, metadata={"run": 7})
    assert repo.lookup_branch("main") == snapshot
    newest = next(iter(repo.ancestry(branch="main")))
    assert (newest.message, newest.metadata["run"]) == ("two files", 7)
    assert len(list(repo.ancestry(branch="main"))) == 2
    assert names(repo) == ["a", "b"]


def test_nothing_changed_is_no_commit(repo):
    assert commit_changes(repo, "nothing", lambda session: None) is None
    assert len(list(repo.ancestry(branch="main"))) == 1


def test_a_conflict_is_read_again_and_replayed(repo):
    seen = []

    def write(session):
        seen.append(sorted(zarr.open_group(session.store, mode="a")))
        add(session, "ours")
        if len(seen) < 3:  # somebody else is quicker twice
            other = repo.writable_session("main")
            add(other, f"theirs-{len(seen)}")
            other.commit("theirs")

    commit_changes(repo, "ours", write)
    assert seen == [[], ["theirs-1"], ["theirs-1", "theirs-2"]]
    assert names(repo) == ["ours", "theirs-1", "theirs-2"]
    assert [each.message for each in repo.ancestry(branch="main")][:3] == ["ours", "theirs", "theirs"]


def test_giving_up_leaves_what_others_did(repo):
    def write(session):
        number = len(list(repo.ancestry(branch="main")))
        add(session, "ours")
        other = repo.writable_session("main")
        add(other, f"theirs-{number}")
        other.commit("theirs")

    with pytest.raises(
        CommitConflictError, match="branch 'main' .* changed by others during each of 2 tries"
    ) as error:
        commit_changes(repo, "ours", write, tries=2)
    assert error.value.transient
    assert names(repo) == ["theirs-1", "theirs-2"]
    with pytest.raises(UsageError, match="tries is 0"):
        commit_changes(repo, "ours", write, tries=0)


def test_an_error_while_writing_commits_nothing(repo):
    def write(session):
        add(session, "half")
        raise ShadowzarrError("a source is gone")

    with pytest.raises(ShadowzarrError, match="gone"):
        commit_changes(repo, "x", write)
    assert len(list(repo.ancestry(branch="main"))) == 1


def test_writers_in_threads_all_get_in():
    repo = icechunk.Repository.create(icechunk.in_memory_storage())

    def run(name):
        commit_changes(repo, name, lambda session: add(session, name), tries=50)

    threads = [threading.Thread(target=run, args=(name,)) for name in "abcd"]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert names(repo) == list("abcd")


KILLED = """
import os, signal, sys
from shadowzarr import RfsBuilder
from shadowzarr.icechunk import commit_changes, open_repository, rfs_to_icechunk
import zarr

def write(session):
    rfs_to_icechunk(RfsBuilder().build(), session, group="half")
    zarr.create_array(session.store, name="half/a", data=__import__("numpy").arange(10**5))
    print("written", flush=True)
    os.kill(os.getpid(), signal.SIGKILL)

commit_changes(open_repository(sys.argv[1]), "never", write)
"""


def test_a_run_that_is_killed_before_its_commit_leaves_the_repository_as_it_was(repo, tmp_path):
    commit_changes(repo, "before", lambda session: add(session, "whole"))
    tip = repo.lookup_branch("main")
    place = str(tmp_path / "repo")
    killed = subprocess.run(
        [sys.executable, "-c", KILLED, place], capture_output=True, text=True, timeout=120, env=os.environ
    )
    assert killed.returncode == -signal.SIGKILL
    assert killed.stdout == "written\n"
    again = open_repository(place, create=False)
    assert again.lookup_branch("main") == tip
    assert names(again) == ["whole"]
    commit_changes(again, "after", lambda session: add(session, "half"))
    assert names(again) == ["half", "whole"]
    # what it had written already is taken away when it is old enough to be nobody's
    later = datetime.datetime.now(datetime.UTC) + datetime.timedelta(days=2)
    assert expire_snapshots(again, now=later).deleted_bytes > 0
    assert names(again) == ["half", "whole"]


class TestTags:
    def test_a_tag_stays_where_it_is(self, repo):
        first = commit_changes(repo, "1", lambda session: add(session, "a"))
        assert tag_version(repo, "v1") == first
        second = commit_changes(repo, "2", lambda session: add(session, "b"))
        assert tag_version(repo, "v1", snapshot=first) == first
        with pytest.raises(UsageError, match=f"tag 'v1' is at snapshot {first} and is not moved to {second}"):
            tag_version(repo, "v1")
        assert names(repo, tag="v1") == ["a"]

    def test_a_tag_that_cannot_be_made(self, repo):
        with pytest.raises(UsageError, match="tag 'v1' cannot be made"):
            tag_version(repo, "v1", snapshot="V4RSG2N1T1ZG8GYTT3D0")  # there is no such snapshot


class TestRetention:
    def test_old_snapshots_leave_and_tags_and_the_tip_stay(self, repo):
        first = commit_changes(repo, "1", lambda session: add(session, "a"))
        commit_changes(repo, "2", lambda session: add(session, "b"))
        tag_version(repo, "v1", snapshot=first)
        for name in "cd":
            commit_changes(repo, name, lambda session, name=name: add(session, name))
        later = datetime.datetime.now(datetime.UTC) + datetime.timedelta(days=40)
        gone = expire_snapshots(repo, Retention(keep=datetime.timedelta(days=30)), now=later)
        assert len(gone.snapshots) == 2
        assert gone.deleted_bytes > 0
        assert gone.failed == 0
        assert names(repo, tag="v1") == ["a"]
        assert names(repo) == ["a", "b", "c", "d"]

    def test_what_is_young_stays(self, repo):
        for name in "ab":
            commit_changes(repo, name, lambda session, name=name: add(session, name))
        kept = expire_snapshots(repo)
        assert (kept.snapshots, kept.deleted_bytes) == (frozenset(), 0)
        assert len(list(repo.ancestry(branch="main"))) == 3

    def test_a_run_that_is_writing_loses_nothing(self, repo):
        """Its objects are in no snapshot yet, and younger than the grace."""
        session = repo.writable_session("main")
        zarr.create_array(session.store, name="a", data=__import__("numpy").arange(10**5), chunks=(10**5,))
        later = datetime.datetime.now(datetime.UTC) + datetime.timedelta(hours=23)
        expire_snapshots(repo, Retention(keep=datetime.timedelta(0)), now=later)
        session.commit("late")
        array = zarr.open_array(repo.readonly_session("main").store, path="a", mode="r")
        assert array[-1] == 10**5 - 1

    def test_ages_are_not_negative(self, repo):
        with pytest.raises(UsageError, match="an age is negative"):
            expire_snapshots(repo, Retention(keep=datetime.timedelta(days=-1)))


class TestBesideTheBranch:
    def test_a_snapshot_that_only_its_tag_keeps(self, repo):
        first = commit_changes(repo, "1", lambda session: add(session, "a"))
        aside = side_snapshot(repo, lambda: "aside", lambda session: add(session, "b"), metadata={"of": "v1"})
        tag_version(repo, "v1", snapshot=aside)
        lost = side_snapshot(repo, "lost", lambda session: add(session, "c"))
        assert repo.lookup_branch("main") == first
        assert (names(repo), names(repo, tag="v1")) == (["a"], ["a", "b"])
        newest = next(iter(repo.ancestry(tag="v1")))
        assert (newest.message, newest.metadata) == ("aside", {"of": "v1"})
        assert side_snapshot(repo, "nothing", lambda session: None) == first
        later = datetime.datetime.now(datetime.UTC) + datetime.timedelta(days=40)
        assert expire_snapshots(repo, now=later).deleted_bytes > 0
        assert (names(repo), names(repo, tag="v1")) == (["a"], ["a", "b"])
        with pytest.raises(icechunk.IcechunkError):
            repo.readonly_session(snapshot_id=lost)

    def test_what_is_said_when_all_is_written(self, repo):
        written = []
        commit_changes(
            repo, lambda: f"{len(written)} groups", lambda session: written.append(add(session, "a"))
        )
        assert next(iter(repo.ancestry(branch="main"))).message == "1 groups"
