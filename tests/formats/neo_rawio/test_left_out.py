"""What is left out by name of recordings, whole segments too, when references are compared with NEO."""

from pathlib import Path

import recordings_by_hand as hand
from neo.rawio import BlackrockRawIO, WinWcpRawIO

from shadowzarr.formats.neo_rawio.generate import generate_rfs_neo
from shadowzarr.verify import verify_rfs


def test_a_segment_of_which_all_is_left_out_by_name_is_not_missing(tmp_path: Path) -> None:
    reader = WinWcpRawIO(**hand.winwcp(tmp_path, cut=100))
    rfs = generate_rfs_neo(reader)
    report = verify_rfs(rfs, reader, mode="full")
    assert (report.equal, len(report.left_out)) == (True, 1), report.summary()
    report = verify_rfs({**rfs, "skipped": []}, reader, mode="full")
    assert [(each.path, each.kind) for each in report.differences] == [
        ("/block0/segment2", "missing"),
        ("/block0/segment2/0", "missing"),
    ]


def test_a_segment_that_neo_cannot_read_is_left_out_by_both_sides(tmp_path: Path) -> None:
    arguments = hand.blackrock(tmp_path, blocks=(300, 200), cut=400, gap_tolerance_ms=1.0)
    rfs = generate_rfs_neo(BlackrockRawIO(**arguments))
    assert [entry["path"] for entry in rfs["skipped"]] == ["/block0/segment1/2"]
    report = verify_rfs(rfs, BlackrockRawIO(**arguments), mode="full")
    assert (report.equal, len(report.left_out)) == (True, 1), report.summary()
