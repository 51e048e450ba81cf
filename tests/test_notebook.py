"""What notebooks show of references, stores, arrays and reports: short, true, and all of it escaped."""

import html.parser
import re

import h5py
import numpy as np
import pytest
from command_line import add_times

from shadowzarr import (
    RfsStore,
    VirtualArray,
    describe,
    generate_rfs,
    materialize,
    relocate_rfs,
    to_hdf5,
    verify_rfs,
    write_rfs,
)
from shadowzarr.notebook import MOST_ROWS, SummaryShown, table
from shadowzarr.verify.report import Difference, LeftOut, VerificationReport

EVIL = "<script>alert('&')</script>"


class Tags(html.parser.HTMLParser):
    """Names of the elements of a page, each closed in its turn, and its text."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.names, self._open, self.text = set(), [], ""
        self.feed(page)
        assert self._open == []

    def handle_starttag(self, tag, attrs):
        self.names.add(tag)
        self._open.append(tag)

    def handle_endtag(self, tag):
        assert self._open.pop() == tag

    def handle_data(self, data):
        self.text += data


def shown(thing):
    page = Tags(thing._repr_html_())
    assert page.names <= {"div", "b", "table", "tr", "th", "td", "details", "summary", "pre"}
    return page.text


@pytest.fixture
def refs(tmp_path):
    with h5py.File(tmp_path / "a.h5", "w") as file:
        file.create_dataset(
            f"group/{EVIL.replace('/', '')}", data=np.zeros((500, 4), "i2"), chunks=(50, 4), compression=4
        )
        file["x"] = np.arange(600.0)
        add_times(file, "times")
    write_rfs(generate_rfs(tmp_path / "a.h5"), tmp_path / "a.shadowzarr")
    return tmp_path / "a.shadowzarr"


def test_a_document_is_described(refs):
    found = describe(refs)
    assert (found.totals.groups, found.totals.arrays) == (2, 2)
    assert [(row.shape, row.data_type, row.codecs) for row in found.arrays] == [
        ((500, 4), "int16", ("zlib",)),
        ((600,), "float64", ()),
    ]
    text = repr(found)
    assert text.startswith("references: 2 groups, 2 arrays, 11 chunks")
    assert "1 left out" in text
    assert f"of {refs.parent / 'a.h5'}" in text
    assert "EVIL" not in text
    assert EVIL.replace("/", "") in shown(found)
    assert "left out" in shown(found)


def test_a_document_in_memory_and_one_on_disk_are_described_alike(refs):
    assert repr(describe(generate_rfs(refs.parent / "a.h5"))) == repr(describe(refs))


def test_sources_are_shown_without_their_queries():
    root = '{"zarr_format":3,"node_type":"group"}'
    rfs = {"refs": {"zarr.json": root}, "sources": {"https://a.org/f?token=secret": {"size": 7}}}
    assert "secret" not in repr(describe(rfs)) + shown(describe(rfs))


def test_a_long_list_is_cut():
    rows = table([number] for number in range(MOST_ROWS + 5))
    assert rows.count("<tr>") == MOST_ROWS + 1
    assert "and 5 more" in rows


def test_a_store(refs):
    text = shown(RfsStore(refs))
    assert text.startswith("RfsStore(")
    assert "11 chunks" in text


def test_a_virtual_array(tmp_path):
    array = VirtualArray.contiguous(tmp_path / EVIL.replace("/", ""), shape=(10, 3), dtype="<i2")
    assert "(10, 3)" in shown(array)
    assert "holds no data" in shown(array)


def test_reports_show_their_summaries(refs, tmp_path):
    report = verify_rfs(refs, mode="full")
    assert repr(report) == f"<VerificationReport {report.summary().splitlines()[0]}>"
    assert "equal (all values)" in shown(report)
    made = [materialize(refs, tmp_path / "m.zarr"), to_hdf5(refs, tmp_path / "b.h5")]
    (tmp_path / "a.h5").rename(tmp_path / "moved.h5")
    made.append(relocate_rfs(refs, from_prefix=str(tmp_path / "a.h5"), to_prefix=str(tmp_path / "moved.h5")))
    for each in made:
        assert isinstance(each, SummaryShown)
        first = each.summary().splitlines()[0]
        assert first in repr(each)
        assert first in shown(each)


def test_differences_are_escaped():
    report = VerificationReport(
        "full",
        0,
        differences=[Difference(EVIL, "values", EVIL, EVIL)],
        left_out=[LeftOut(EVIL, "group", EVIL)],
    )
    assert shown(report).count(EVIL) == 5
    assert re.search("<script", report._repr_html_()) is None


def test_the_summary_of_a_run(tmp_path):
    from shadowzarr.catalog.run_summary import RunSummary

    run = RunSummary(
        flow="index_dandisets",
        config_digest="",
        config_path="",
        archive="",
        output=str(tmp_path),
        dandisets=[("000001", "draft")],
        started="",
        finished="",
        seconds=2.0,
        versions={},
        records=[],
        skipped=[],
    )
    assert repr(run) == "<RunSummary index_dandisets of 000001: nothing to do; exit code 0, 2.0 s>"
    assert "nothing to do" in shown(run)
