from dataclasses import replace

import pytest

from shadowzarr.catalog.records import IndexRecord
from shadowzarr.catalog.run_summary import RunSummary, SkippedAsset

RECORD = IndexRecord("i", "000001", "draft", "a.nwb", "e-1", 7, "u", {}, "0", 1, "indexed")


def summary(*outcomes, **changes):
    values = {
        "flow": "f",
        "config_digest": "",
        "config_path": "",
        "archive": "",
        "output": "",
        "dandisets": [],
        "started": "",
        "finished": "",
        "seconds": 1.0,
        "versions": {},
        "records": [replace(RECORD, outcome=outcome) for outcome in outcomes],
        "skipped": [],
    }
    return RunSummary(**(values | changes))


@pytest.mark.parametrize(
    ("outcomes", "changes", "code"),
    [
        ([], {}, 0),
        (["indexed"], {}, 0),
        (["indexed", "partial"], {}, 3),
        ([], {"left_out_before": 1}, 3),
        (["partial", "failed"], {}, 1),
        (["indexed"], {"not_started": 1}, 1),
    ],
)
def test_exit_codes(outcomes, changes, code):
    assert summary(*outcomes, **changes).exit_code == code


def test_counts():
    skipped = [
        SkippedAsset("000001", "draft", f"{n}", "i", 1, reason) for n, reason in enumerate(["a", "b", "a"])
    ]
    found = summary("indexed", "failed", "indexed", skipped=skipped, not_started=2)
    assert found.outcome_counts == {"indexed": 2, "failed": 1}
    assert found.plan_counts == {"to index": 5, "a": 2, "b": 1}
    assert [record.outcome for record in found.failures] == ["failed"]
