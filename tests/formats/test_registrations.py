"""A format is known by name in several places; this says which of them lacks one."""

import inspect
import typing

import pytest

from shadowzarr.cli.generate import generate
from shadowzarr.formats import dispatch
from shadowzarr.recognition import FORMATS, TITLES
from shadowzarr.verify import opening

OPENED_OTHERWISE = {"neo"}
"""Formats whose originals may be folders, which ``shadowzarr.verify.judge`` opens."""


def names_of_the_option() -> set[str]:
    """What ``shadowzarr generate --format`` takes; written out there, since help imports nothing heavy."""
    annotation = inspect.signature(generate).parameters["format"].annotation
    hint = eval(annotation, {"Literal": typing.Literal})
    return {name for part in typing.get_args(hint) for name in typing.get_args(part)}


@pytest.mark.parametrize(
    ("place", "names"),
    [
        ("shadowzarr.recognition.TITLES", set(TITLES)),
        ("shadowzarr.formats.dispatch._GENERATORS", set(dispatch._GENERATORS)),
        ("shadowzarr.verify.opening._OPENERS", {*opening._OPENERS, *OPENED_OTHERWISE}),
        ("the option --format of shadowzarr.cli.generate.generate", names_of_the_option()),
    ],
)
def test_every_format_is_known_in_each_place(place, names):
    assert names == set(FORMATS), (
        f"{place} differs from shadowzarr.recognition.Format; see docs/add-a-format.md"
    )
