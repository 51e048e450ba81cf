"""A folder with a file, and the range server of it."""

import pytest

from shadowzarr.testing import RangeServer
from tests.support.served_range import CONTENT


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "a b.nwb").write_bytes(CONTENT)
    (tmp_path / "empty").write_bytes(b"")
    return tmp_path


@pytest.fixture
def server(folder):
    with RangeServer(folder) as server:
        yield server


@pytest.fixture
def url(server):
    return server.url("sub/a b.nwb")
