"""The outcome of a run in a sentence."""

import re

import pytest

from flows.report.outcome import headline, shares, status
from flows.report.remedies import remedy
from flows.report.writing import render_report
from shadowzarr import errors
from shadowzarr.catalog.records import VerificationSummary

from .conftest import make_failure, make_record, make_skipped, make_summary

OF_ARCHIVES = {"NotHDF5Error", "NotInArchiveError"}
"""What no recording fails by."""
UNVERIFIED = {"verification": VerificationSummary("none")}


@pytest.mark.parametrize(
    ("records", "changes", "sentence", "kind"),
    [
        ([make_record(), make_record()], {}, "All 2 assets were indexed and verified.", "good"),
        ([make_record()], {}, "The asset was indexed and verified.", "good"),
        ([make_record(**UNVERIFIED)], {}, "The asset was indexed without verification.", "good"),
        (
            [make_record(), make_record(**UNVERIFIED)],
            {},
            "All 2 assets were indexed, not all verified.",
            "good",
        ),
        (
            [make_record(), make_record(outcome="partial")],
            {},
            "All 2 assets were indexed and verified, 1 of them with some objects left out.",
            "partial",
        ),
        (
            [make_record(outcome="partial")],
            {},
            "The asset was indexed and verified, with some objects left out.",
            "partial",
        ),
        (
            [make_record(), make_failure(), make_record()],
            {},
            "1 of 3 assets failed; the other 2 were indexed and verified.",
            "bad",
        ),
        (
            [make_record(), make_failure()],
            {},
            "1 of 2 assets failed; the other one was indexed and verified.",
            "bad",
        ),
        ([make_failure(), make_failure()], {}, "All 2 assets failed.", "bad"),
        ([make_failure()], {}, "The asset failed.", "bad"),
        (
            [make_failure(), make_failure()],
            {"skipped": [make_skipped(f"{n}.nwb", "unchanged") for n in range(4)]},
            "2 of 6 assets failed; the other 4 are unchanged.",
            "bad",
        ),
        (
            [make_failure()],
            {"skipped": [make_skipped("a.nwb", "unchanged"), make_skipped("n.txt", "not NWB")]},
            "1 of 2 assets failed; the other one is unchanged.",
            "bad",
        ),
        (
            [make_record(), make_failure(), make_record()],
            {"skipped": [make_skipped("a.nwb", "unchanged")]},
            "1 of 4 assets failed; 2 were indexed and verified, 1 is unchanged.",
            "bad",
        ),
        (
            [make_record(), make_record(outcome="partial")],
            {"skipped": [make_skipped(f"{n}.nwb", "unchanged") for n in range(4)]},
            "2 of 6 assets were indexed and verified, 1 of them with some objects left out; "
            "the other 4 are unchanged.",
            "partial",
        ),
        ([make_record()], {"not_started": 1}, "Stopped early: 1 of 2 assets was not started.", "bad"),
        (
            [make_failure()],
            {"not_started": 7},
            "Stopped early: 7 of 8 assets were not started, 1 failed.",
            "bad",
        ),
        ([], {}, "No asset was chosen: the configuration matches none.", "good"),
        (
            [],
            {"skipped": [make_skipped("a.nwb", "unchanged"), make_skipped("b.nwb", "unchanged")]},
            "Nothing to do: all 2 assets are indexed and unchanged.",
            "good",
        ),
        (
            [],
            {"skipped": [make_skipped("a.nwb", "unchanged")], "left_out_before": 1},
            "Nothing to do: the asset is indexed and unchanged.",
            "partial",
        ),
        (
            [],
            {"skipped": [make_skipped("a.nwb", "unchanged"), make_skipped("b.nwb", "quarantined")]},
            "Nothing to do: 1 asset is indexed and unchanged; 1 asset that failed before is in quarantine.",
            "partial",
        ),
        (
            [],
            {"skipped": [make_skipped(f"{n}.nwb", "quarantined") for n in range(2)]},
            "Nothing to do: 2 assets that failed before are in quarantine.",
            "partial",
        ),
        (
            [make_record()],
            {"skipped": [make_skipped("b.nwb", "quarantined")]},
            "The asset was indexed and verified. 1 more is in quarantine.",
            "partial",
        ),
    ],
)
def test_headline(records: list, changes: dict, sentence: str, kind: str) -> None:
    summary = make_summary(records, **changes)
    assert headline(summary) == sentence
    assert status(summary) == kind


def test_shares_count_every_asset_once() -> None:
    skipped = [make_skipped("a.nwb", "unchanged"), make_skipped("b.mp4", "not NWB")]
    records = [make_record(), make_record(outcome="partial"), make_failure()]
    found = shares(make_summary(records, skipped=skipped, not_started=4))
    assert [(share.kind, share.count) for share in found] == [
        ("indexed", 1),
        ("partial", 1),
        ("unchanged", 1),
        ("passed", 1),
        ("waiting", 4),
        ("failed", 1),
    ]
    assert shares(make_summary([make_record()])) == shares(make_summary([make_record()]))[:1]


def test_a_run_that_converts_speaks_of_recordings():
    """One page of every part: what is said of assets elsewhere is said of recordings here."""
    summary = make_summary(
        [make_record(), make_failure()],
        flow="convert_recordings",
        skipped=[make_skipped("a", "unchanged"), make_skipped("b", "quarantined")],
        left_out_before=1,
    )
    assert headline(summary).startswith("1 of 3 recordings failed; 1 was converted and verified, 1 is")
    page = render_report(summary)
    code = re.compile(r'<(style|script)>.*?</\1>|(id|labelledby)="assets"', re.DOTALL)
    assert "asset" not in code.sub("", page).lower()
    kinds = [name for name in vars(errors) if name.endswith("Error")]
    said = [
        remedy(kind, transient=False, noun="recording").advice for kind in kinds if kind not in OF_ARCHIVES
    ]
    assert not [advice for advice in said if "asset" in advice or "{" in advice]
