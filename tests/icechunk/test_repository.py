"""Repositories made and opened with the containers that some files need."""

import icechunk
import pytest

from shadowzarr.errors import OutputError, UsageError
from shadowzarr.icechunk import open_repository
from shadowzarr.icechunk.containers import container_of, prefix_for


def prefixes(repo):
    return sorted(repo.config.virtual_chunk_containers or {})


def test_containers_are_added_to_those_that_are_there(tmp_path):
    place = tmp_path / "repo"
    first = open_repository(place, ["file:///data/a/x.h5", "http://h:8/y"])
    assert prefixes(first) == ["file:///data/a/", "http://h:8/"]
    second = open_repository(place, ["http://h:8/z", "s3://bucket/k"])
    assert prefixes(second) == ["file:///data/a/", "http://h:8/", "s3://bucket/"]
    assert second.authorized_virtual_container_prefixes == {"http://h:8/", "s3://bucket/"}
    kept = icechunk.Repository.open(icechunk.local_filesystem_storage(str(place)))
    assert prefixes(kept) == ["file:///data/a/", "http://h:8/", "s3://bucket/"]


def test_a_container_that_covers_the_files_is_used(tmp_path):
    config = icechunk.RepositoryConfig.default()
    container = icechunk.VirtualChunkContainer("file:///data/", icechunk.local_filesystem_store("/data"))
    config.set_virtual_chunk_container(container)
    storage = icechunk.local_filesystem_storage(str(tmp_path / "repo"))
    icechunk.Repository.create(storage, config=config)
    repo = open_repository(tmp_path / "repo", ["file:///data/a/x.h5"])
    assert prefixes(repo) == ["file:///data/"]
    assert repo.authorized_virtual_container_prefixes == {"file:///data/"}


def test_the_longest_prefix_counts():
    assert prefix_for("s3://b/x/y", ["s3://b/", "s3://b/x/", "s3://c/"]) == "s3://b/x/"
    assert prefix_for("s3://d/x", ["s3://b/"]) is None


def test_the_archive_bucket_is_read_unsigned_in_its_region(monkeypatch):
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "a")
    container = container_of("s3://dandiarchive/blobs/x")
    assert container.prefix == "s3://dandiarchive/"
    assert "us-east-2" in container.code[0]
    assert "anonymous" in container.code[1]
    assert "from_env" in container_of("s3://own/x").code[1]


def test_places_of_other_kinds_need_a_container_of_ones_own():
    with pytest.raises(UsageError, match="gs://b/x is in a place that needs a virtual chunk container"):
        container_of("gs://b/x")


@pytest.mark.parametrize("name", ["file", "full", "no/parent"])
def test_places_that_hold_something_else(name, tmp_path):
    (tmp_path / "file").write_text("x")
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "notes").write_text("x")
    with pytest.raises(OutputError, match=r"is a file|holds other files|there is no folder"):
        open_repository(tmp_path / name)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["file", "full"]


def test_no_repository_and_none_to_be_made(tmp_path):
    with pytest.raises(OutputError, match="there is no Icechunk repository at"):
        open_repository(tmp_path / "repo", create=False)
    assert not (tmp_path / "repo").exists()
    with pytest.raises(UsageError, match="no place for an Icechunk repository"):
        open_repository("http://h/repo")
