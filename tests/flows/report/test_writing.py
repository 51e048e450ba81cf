"""The report as a file: whole, alone, and inert whatever assets are called."""

import base64
import hashlib
import re
from html.parser import HTMLParser
from pathlib import Path

import pytest

from flows.report import render_report, write_report
from shadowzarr.catalog.layout import layout_at
from shadowzarr.catalog.records import ErrorSummary, SkippedObject
from shadowzarr.catalog.run_summary import RunSummary
from shadowzarr.errors import OutputError

from .conftest import make_failure, make_record, make_skipped, make_summary

HOSTILE = [
    "<script>alert(1)</script>.nwb",
    '"><img src=x onerror=alert(1)>.nwb',
    "</title></script></style><svg onload=alert(1)>.nwb",
    "{{ 71 * 59 }}{% for x in y %}.nwb",
    "' onmouseover='alert(1).nwb",
    "lone \udce9 and \u202e turned.nwb",
]


class Tags(HTMLParser):
    """Collects the elements of a page, and complains about what is not closed in order."""

    VOID = frozenset({"meta", "link", "input", "br", "img"})

    def __init__(self) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str | None]]] = []
        self.open: list[str] = []
        self.text: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs)))
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text.append(data)


def parse(page: str) -> Tags:
    tags = Tags()
    tags.feed(page)
    tags.close()
    assert tags.open == []
    return tags


def hostile_summary() -> RunSummary:
    skipped = [SkippedObject(f"/acquisition/{name}", name, name) for name in HOSTILE]
    records = [make_record(f"sub/{name}", skipped=skipped, outcome="partial") for name in HOSTILE]
    records += [
        make_failure(name, error=ErrorSummary(name, "DamagedSourceError", f"cannot read {name}"))
        for name in HOSTILE
    ]
    passed = [make_skipped(name, "not NWB", detail=name) for name in HOSTILE]
    changes = {"config_path": HOSTILE[0], "archive": HOSTILE[1], "warnings": HOSTILE}
    return make_summary(records, skipped=passed, **changes)


def test_hostile_names_are_text_and_nothing_else() -> None:
    tags = parse(render_report(hostile_summary()))
    names = [tag for tag, _ in tags.found]
    assert names.count("script") == 1
    assert "img" not in names
    assert not [key for _, attributes in tags.found for key in attributes if key.startswith("on")]
    text = "".join(tags.text)
    for name in HOSTILE[:5]:
        assert text.count(name) >= 4
    assert "4189" not in text


def test_the_only_script_is_ours_and_the_page_says_so() -> None:
    page = render_report(hostile_summary())
    policy = re.search(r'Content-Security-Policy" content="([^"]*)"', page)[1]
    script = re.search(r"<script>(.*?)</script>", page, re.DOTALL)[1]
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    assert "default-src 'none'" in policy
    assert f"script-src 'sha256-{digest}'" in policy


def test_nothing_is_loaded_from_anywhere(busy_summary: RunSummary) -> None:
    tags = parse(render_report(busy_summary))
    addresses = [
        value for _, found in tags.found for key, value in found.items() if key in ("src", "href", "action")
    ]
    assert addresses
    assert {re.match(r"\./dandisets/|#|data:,", address) is not None for address in addresses} == {True}
    assert "url(" not in "".join(tags.text)
    assert "@import" not in "".join(tags.text)


def test_a_thousand_assets_take_less_than_a_megabyte(busy_summary: RunSummary, tmp_path: Path) -> None:
    layout = layout_at(tmp_path / "new")
    write_report(busy_summary, layout)
    path = tmp_path / "new" / "report.html"
    assert path.stat().st_size < 1_000_000
    assert [file.name for file in path.parent.iterdir() if file != layout.workings] == ["report.html"]
    tags = parse(path.read_text(encoding="utf-8"))
    assert sum(tag == "tr" for tag, _ in tags.found) > 1_000


def test_every_failed_asset_is_named_with_its_remedy() -> None:
    text = "".join(parse(render_report(make_summary([make_record(), make_failure("x/lost.nwb")]))).text)
    assert "000001/x/lost.nwb" in text
    assert "the file ends at 4,096 of 9,000 bytes" in text
    assert "What to do:" in text
    assert "1 of 2 assets failed" in text


def test_keys_and_signatures_do_not_reach_the_page(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LAB_API_KEY", "s3cr3t-of-the-lab")
    message = "GET http://h/x?X-Amz-Signature=feedbeef gave 403 for s3cr3t-of-the-lab"
    record = make_failure(error=ErrorSummary("index", "AccessDeniedError", message))
    page = render_report(make_summary([record], warnings=["key s3cr3t-of-the-lab", "http://h/?token=abc"]))
    for secret in ("s3cr3t", "feedbeef", "token=abc"):
        assert secret not in page
    assert "GET http://h/x gave 403" in page


def test_embargoed_assets_are_counted_and_not_named() -> None:
    records = [make_record(), make_record("sub-secret/plan.nwb", private=True, outcome="partial")]
    skipped = [make_skipped("sub-secret/old.nwb", "unchanged", private=True)]
    summary = make_summary(records, skipped=skipped)
    page = render_report(summary)
    assert "sub-secret" not in page
    assert "2 of 3 assets were indexed" in page
    assert "2 embargoed assets counted here" in page
    private_page = render_report(summary, include_private=True)
    assert "sub-secret" in private_page
    assert "embargoed assets counted here" not in private_page


def test_an_empty_run_still_has_a_report() -> None:
    text = "".join(parse(render_report(make_summary())).text)
    assert "No asset was chosen" in text


def test_the_table_can_be_read_without_eyes() -> None:
    tags = parse(render_report(make_summary([make_record()])))
    heads = [found.get("scope") for tag, found in tags.found if tag == "th"]
    assert None not in heads
    assert ("html", {"lang": "en"}) in tags.found
    labelled = [found for tag, found in tags.found if tag == "svg"]
    assert labelled
    assert all(found["role"] == "img" for found in labelled)


def test_an_earlier_report_is_replaced_and_an_unwritable_place_is_named(tmp_path: Path) -> None:
    path = tmp_path / "report.html"
    path.write_text("old")
    write_report(make_summary(), layout_at(tmp_path))
    assert "old" not in path.read_text()[:100]
    with pytest.raises(OutputError, match="cannot write"):
        write_report(make_summary(), layout_at(path))
