import logging
import threading

import pytest

from shadowzarr.errors import ReadError
from shadowzarr.formats.cannot_represent import CannotRepresentError
from shadowzarr.formats.tiff.reasons import hearing_tifffile, reading, short_reason


def test_a_reason_is_one_short_line() -> None:
    assert short_reason(ValueError("two\n lines")) == "two lines"
    assert short_reason(KeyError("name")) == "KeyError: 'name'"
    assert short_reason(RuntimeError()) == "RuntimeError"
    assert len(short_reason(ValueError("x" * 500))) == 240


def test_what_tifffile_raises_becomes_a_reason() -> None:
    with pytest.raises(CannotRepresentError, match="part: tifffile cannot read it: wrong"), reading("part"):
        raise ValueError("wrong")


@pytest.mark.parametrize("error", [ReadError("the network"), CannotRepresentError("known")])
def test_our_own_errors_pass(error: Exception) -> None:
    with pytest.raises(type(error), match=str(error)), reading():
        raise error


def test_messages_of_this_thread_are_heard(caplog: pytest.LogCaptureFixture) -> None:
    logger = logging.getLogger("tifffile")
    with hearing_tifffile() as heard:
        logger.error("a %s", "message")
        other = threading.Thread(target=lambda: logger.error("of another"))
        other.start()
        other.join()
        for _ in range(200):
            logger.warning("again")
    logger.error("later")
    assert heard[0] == "a message"
    assert len(heard) == 100
    assert [record.getMessage() for record in caplog.records] == ["of another", "later"]
