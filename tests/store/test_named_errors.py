import pickle

import pytest

from shadowzarr.errors import ReadError, SourceChangedError, TransientReadError
from shadowzarr.store.named_errors import cause_of, named

URL = "https://h/x.bin?X-Amz-Signature=secret"


def test_class_and_facts_are_kept():
    error = named(TransientReadError("busy", status=503, retry_after=2.0), "chunk (1,) of array '/a'", URL)
    assert type(error) is TransientReadError
    assert (error.status, error.retry_after, error.transient) == (503, 2.0, True)
    assert str(error) == "chunk (1,) of array '/a': https://h/x.bin: busy"
    assert str(pickle.loads(pickle.dumps(error))) == str(error)


def test_the_file_is_named_once():
    error = named(SourceChangedError("https://h/x.bin is not the file"), "chunk (1,)", URL)
    assert str(error) == "chunk (1,): https://h/x.bin is not the file"


@pytest.mark.parametrize("error", [FileNotFoundError("gone"), KeyError("gone"), TimeoutError("gone")])
def test_foreign_errors_become_ours(error):
    result = named(error, "chunk (1,)", URL)
    assert type(result) is ReadError
    assert not isinstance(result, FileNotFoundError | KeyError)
    assert "gone" in str(result)


def test_only_foreign_errors_are_shown_as_causes():
    assert cause_of(ReadError("gone")) is None
    foreign = TimeoutError("gone")
    assert cause_of(foreign) is foreign
