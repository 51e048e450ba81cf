"""Tests of refreshing repositories; without the library there are none."""

import importlib.util

import pytest

from shadowzarr.testing import Archive, ArchiveServer

if importlib.util.find_spec("icechunk") is None:
    collect_ignore_glob = ["test_*.py"]
else:
    import icechunk

    icechunk.set_logs_filter("error")  # it says on stderr of each local repository that it is one


@pytest.fixture
def following(tmp_path, pool):
    """An archive with an empty dandiset, an output, and a repository that follows."""
    from following_archive import DANDISET, Following

    contents = Archive()
    contents.add_dandiset(DANDISET)
    with ArchiveServer(contents) as server:
        yield Following(server, tmp_path, pool)
