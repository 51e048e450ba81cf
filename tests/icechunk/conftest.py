"""Repositories that the tests write into."""

import icechunk
import pytest

icechunk.set_logs_filter("error")  # it says on stderr of each local repository that it is one


@pytest.fixture
def new_session():
    """Makes a repository with the containers that some files need, and gives a session to write into."""
    from shadowzarr.icechunk import open_repository

    def make(place, *urls):
        return open_repository(place, urls).writable_session("main")

    return make
