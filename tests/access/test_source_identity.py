import pickle

import pytest

from shadowzarr.access.source_identity import (
    RangeAnswer,
    Source,
    check_answer,
    check_identity,
    is_strong,
    quoted,
    short_read,
)
from shadowzarr.errors import ShortReadError, SourceChangedError
from shadowzarr.refs.byte_range import FileRange

URL = "https://host/a.nwb?X-Amz-Signature=secret"
SOURCE = Source(URL, 100, '"abc"')


@pytest.mark.parametrize(
    ("etag", "strong"),
    [
        ('"abc"', True),
        ('"abc-12"', True),
        ('W/"abc"', False),
        ("abc", False),
        ('""', False),
        ("", False),
        (None, False),
    ],
)
def test_only_strong_etags_are_sent(etag, strong):
    assert is_strong(etag) == strong
    assert Source("u", 1, etag).if_match == (etag if strong else None)


@pytest.mark.parametrize(
    ("etag", "result"),
    [("abc-1", '"abc-1"'), ('"abc"', '"abc"'), ('W/"a"', 'W/"a"'), (None, None), ("", None)],
)
def test_quoting(etag, result):
    assert quoted(etag) == result


@pytest.mark.parametrize(
    ("size", "etag"), [(100, '"abc"'), (None, '"abc"'), (100, None), (None, None), (100, 'W/"other"')]
)
def test_the_same_file(size, etag):
    check_identity(SOURCE, size=size, etag=etag)


@pytest.mark.parametrize(("size", "etag", "found"), [(101, '"abc"', "101 bytes"), (100, '"x"', '"x"')])
def test_another_file(size, etag, found):
    with pytest.raises(SourceChangedError, match=found) as caught:
        check_identity(SOURCE, size=size, etag=etag)
    assert "https://host/a.nwb" in str(caught.value)
    assert "secret" not in str(caught.value)


def test_a_source_of_which_nothing_is_known_is_not_checked():
    check_identity(Source("u"), size=5, etag='"x"')


def test_lengths():
    check_answer(RangeAnswer(b"12345", 100, None), FileRange(10, 5), URL, SOURCE)
    check_answer(RangeAnswer(b"12345", 5, None), None, URL, None)
    check_answer(RangeAnswer(b"12345", None, None), None, URL, None)
    for data in (b"1234", b"123456", b""):
        with pytest.raises(ShortReadError):
            check_answer(RangeAnswer(data, 100, None), FileRange(10, 5), URL, SOURCE)
    with pytest.raises(ShortReadError):
        check_answer(RangeAnswer(b"1234", 5, None), None, URL, None)


def test_another_file_is_told_before_a_short_read():
    with pytest.raises(SourceChangedError):
        check_answer(RangeAnswer(b"", 10, None), FileRange(10, 5), URL, SOURCE)


def test_a_short_read_may_pass_unless_the_file_is_too_short():
    assert short_read(URL, FileRange(10, 5), 3, 100).transient
    assert short_read(URL, FileRange(10, 5), 3, None).transient
    assert not short_read(URL, FileRange(10, 5), 3, 13).transient
    assert "secret" not in str(short_read(URL, FileRange(10, 5), 3, 13))


def test_pickles():
    assert pickle.loads(pickle.dumps(SOURCE)) == SOURCE
    error = pickle.loads(pickle.dumps(short_read(URL, FileRange(10, 5), 3, 13)))
    assert isinstance(error, ShortReadError)
