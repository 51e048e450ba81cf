import pytest

from shadowzarr.errors import TransientReadError
from shadowzarr.formats.hdf5.reasons import CannotRepresentError, reading, short_reason, why_unread


@pytest.mark.parametrize(
    ("error", "reason"),
    [
        (
            OSError("Unable to synchronously open object (bad object header version number)"),
            "bad object header version number",
        ),
        (KeyError("Unable to open (component not found)"), "component not found"),
        (ValueError("plain words"), "plain words"),
        (RuntimeError(), "RuntimeError"),
        (
            OSError("Can't read (can't open directory (/usr/local/lib/plugin). Please verify)"),
            "it went through a filter whose plug-in is not installed",
        ),
    ],
)
def test_short_reason(error: Exception, reason: str) -> None:
    assert short_reason(error) == reason


def test_long_reasons_are_cut() -> None:
    assert len(short_reason(OSError("x" * 1000))) == 240


def test_reading_turns_what_h5py_raises_into_a_reason() -> None:
    with (
        pytest.raises(CannotRepresentError, match="^its chunks: h5py cannot read it: no$"),
        reading("its chunks"),
    ):
        raise OSError("no")


def test_a_broken_connection_is_no_property_of_the_object() -> None:
    with pytest.raises(TransientReadError), reading():
        raise TransientReadError("503")


def test_other_errors_pass() -> None:
    with pytest.raises(ZeroDivisionError), reading():
        raise ZeroDivisionError


def test_the_reason_without_a_context() -> None:
    assert why_unread(OSError("no")) == "h5py cannot read it: no"
    with pytest.raises(TransientReadError):
        why_unread(TransientReadError("503"))
