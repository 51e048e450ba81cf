"""Repositories that the tests write into; without the library there are none."""

import importlib.util

import pytest

if importlib.util.find_spec("icechunk") is None:
    collect_ignore_glob = ["test_*.py"]
else:
    import icechunk

    icechunk.set_logs_filter("error")  # it says on stderr of each local repository that it is one


@pytest.fixture
def new_session():
    """Makes a repository with the containers that some files need, and gives a session to write into."""
    from shadowzarr.icechunk import open_repository

    def make(place, *urls):
        return open_repository(place, urls).writable_session("main")

    return make
