import pytest
from hypothesis import given
from hypothesis import strategies as st

from shadowzarr.errors import InvalidReferencesError
from shadowzarr.refs.byte_range import FileRange, clip
from shadowzarr.refs.inline import decode_inline, encode_inline, inline_size
from shadowzarr.refs.templates import expand, make_templates


@given(st.binary())
def test_inline_values_come_back(data):
    value = encode_inline(data)
    assert value.startswith("base64:")
    assert decode_inline(value) == data
    assert inline_size(value) == len(data)


def test_plain_text_stands_for_its_own_bytes():
    assert decode_inline('{"a": "é"}') == '{"a": "é"}'.encode()
    assert inline_size("é") == 2


def test_base64_that_is_none():
    with pytest.raises(InvalidReferencesError, match="base64"):
        decode_inline("base64:a!")


def test_templates_are_numbered_in_order_without_repeats():
    assert make_templates(["b", "a", "b"]) == {"u0": "b", "u1": "a"}


@pytest.mark.parametrize(
    ("text", "expected"), [("{{u0}}", "b"), ("{{ u0 }}/x", "b/x"), ("plain", "plain"), ("{u0}", "{u0}")]
)
def test_expansion(text, expected):
    assert expand(text, {"u0": "b"}) == expected


def test_a_template_that_is_not_there():
    with pytest.raises(InvalidReferencesError, match="'u1'.*u0"):
        expand("{{u1}}", {"u0": "b"})


@pytest.mark.parametrize(
    ("start", "stop", "expected"),
    [
        (None, None, (0, 10)),
        (2, 5, (2, 5)),
        (-3, None, (7, 10)),
        (5, 99, (5, 10)),
        (20, 30, (10, 10)),
        (6, 2, (6, 6)),
    ],
)
def test_clip(start, stop, expected):
    assert clip(10, start, stop) == expected


def test_a_range_knows_its_end():
    assert FileRange(5, 7).stop == 12


@pytest.mark.parametrize("value", ["base64:é", "base64:a", "base64:\ud800", "\ud800"])
def test_values_without_bytes_are_refused(value):
    with pytest.raises(InvalidReferencesError, match="inline value is not"):
        decode_inline(value)
