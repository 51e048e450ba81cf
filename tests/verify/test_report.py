"""Reports: JSON there and back, the verdict, and what they show."""

import json

import pytest

from shadowzarr.verify.mappings import MAPPINGS
from shadowzarr.verify.report import Difference, LeftOut, Plain, VerificationReport, short
from shadowzarr.verify.tally import NOTHING, Tally


def report(**parts):
    tally = Tally()
    tally.count("arrays", 3)
    tally.count("bytes", 12_345)
    tally.used("text", 2)
    tally.leave_out("odd", "dataset", "a time type")
    for path, kind in parts.get("differences", ()):
        tally.differ(path, kind, 1, NOTHING)
    return tally.report("full", 7, references="a.json", original="a.nwb")


def test_json_there_and_back():
    one = report(differences=[("x", "values")])
    again = VerificationReport.from_json(one.to_json())
    assert again == one
    assert again.differences == [Difference("/x", "values", "1", "nothing")]
    assert again.left_out == [LeftOut("/odd", "dataset", "a time type")]
    assert json.loads(one.to_json())["equal"] is False


def test_what_is_left_out_is_no_difference():
    assert report().equal
    assert not report(differences=[("x", "values")]).equal


@pytest.mark.parametrize("text", ["[]", "{}", '{"mode": "full"}', "not json"])
def test_other_json_is_refused(text):
    with pytest.raises(ValueError):
        VerificationReport.from_json(text)


def test_summary_names_differences_and_counts():
    text = report(differences=[("x", "values"), ("y", "values")]).summary(limit=1)
    assert text.startswith("2 differences (all values): 2 values")
    assert "/x: values: original 1, references nothing" in text
    assert "/y" not in text
    assert "difference: and 1 more" in text
    assert "3 arrays" in text
    assert report(differences=[("x", "values")]).summary().startswith("1 difference (all values): 1 values")
    assert "12,345 bytes" in text
    assert "left out: /odd: a time type" in text
    assert MAPPINGS["text"] in text


def test_every_counted_mapping_is_described():
    from shadowzarr.verify import mappings

    names = {value for name, value in vars(mappings).items() if name.isupper() and isinstance(value, str)}
    assert names == set(MAPPINGS)


def test_values_are_shown_short_and_in_one_line():
    assert short("a\nb") == r"'a\nb'"
    assert short(Plain("a\nb")) == "a b"
    assert len(short(list(range(1000)))) == 120


def test_what_a_format_does_not_have_is_not_counted_in_words():
    counts = {"groups": 1, "arrays": 2, "chunks": 3, "bytes": 40}
    text = VerificationReport("full", 0, counts=counts).summary()
    assert "compared 1 group, 2 arrays (the root is a group), and 40 bytes of values in 3 chunks" in text
    text = VerificationReport("full", 0, counts={**counts, "attributes": 1}).summary()
    assert "compared 1 group, 2 arrays, 1 attribute (the root" in text
