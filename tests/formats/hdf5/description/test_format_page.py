"""docs/format.md names every word of the section that the HDF REST document lacks."""

import re
from pathlib import Path

from shadowzarr.formats.hdf5.attr_conversion import RESERVED
from shadowzarr.hdf5_types import OWN_NAMES, PUBLISHED_NAMES
from shadowzarr.hdf5_types.defaults import CONVENTION

ROOT = Path(__file__).resolve().parents[4]
PAGE = (ROOT / "docs" / "format.md").read_text(encoding="utf-8").partition("## `hdf5`")[2]


def test_every_name_is_in_the_table():
    rows = dict(re.findall(r"^\| `([^`]+)` \| (ours|hdf5-json) \|", PAGE, re.MULTILINE))
    assert {name for name, origin in rows.items() if origin == "ours"} == set(OWN_NAMES)
    assert {name for name, origin in rows.items() if origin == "hdf5-json"} <= set(PUBLISHED_NAMES)


def test_attributes_of_the_convention_are_not_taken_for_the_file_s():
    assert RESERVED <= CONVENTION
