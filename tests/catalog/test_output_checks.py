"""References compared anew: equal, stale and broken ones are told apart, and nothing is changed."""

import json
import shutil
from functools import partial

import pytest

from shadowzarr.catalog.archive_address import ArchiveAddress
from shadowzarr.catalog.in_flight import ThreadRunner, run_in_window
from shadowzarr.catalog.index_run import index_dandisets
from shadowzarr.catalog.jobs import VerificationOptions
from shadowzarr.catalog.output_checks import (
    CheckBench,
    ChecksSummary,
    OutputCheck,
    check_output,
    choose,
    failed_check,
    list_outputs,
    write_checks,
)
from shadowzarr.catalog.records import read_record
from shadowzarr.errors import ReadError
from shadowzarr.testing.faults import Fault


@pytest.fixture
def indexed(archive, request_of, pool, write_file, tmp_path):
    """An output of eight assets, and a function that checks all of it."""
    for number in range(2, 8):
        file = write_file(tmp_path / "files" / f"{number}.nwb", seed=number)
        archive.archive.add_asset("000001", f"sub-{number}/{number}.nwb", file)
    request = request_of()
    index_dandisets(request, pool=pool)

    def check():
        outputs = list_outputs([(request.public, False)])
        bench = CheckBench(pool, ArchiveAddress(archive.api_url), VerificationOptions("sample", 1))
        with ThreadRunner(partial(check_output, bench), failed_check, threads=2) as runner:
            return {each.path or each.record: each for each in run_in_window(outputs, runner, window=3)}

    return request.public, check


def test_what_is_wrong_is_told_by_its_kind(indexed, archive, write_file, tmp_path):
    layout, check = indexed
    before = {path: path.read_bytes() for path in layout.folder.rglob("*") if path.is_file()}
    assert {each.verdict for each in check().values()} == {"equal"}
    assert {path: path.read_bytes() for path in layout.folder.rglob("*") if path.is_file()} == before

    def asset(number):
        return archive.archive.asset_at("000001", f"sub-{number}/{number}.nwb")

    def references(number):
        return layout.folder / f"dandisets/000001/draft/sub-{number}/{number}.nwb.shadowzarr"

    archive.store.faults.add(Fault(path=archive.object_path(asset(1)), status=404))
    etag = '"0123456789abcdef0123456789abcdef-1"'
    archive.store.faults.add(Fault(path=archive.object_path(asset(2)), etag=etag))
    archive.store.faults.add(Fault(path=archive.object_path(asset(3)), status=403))
    document = references(4) / "refs.json"
    document.write_text(
        document.read_text().replace('"seed":4', '"seed":5').replace('\\"seed\\":4', '\\"seed\\":5')
    )
    shutil.rmtree(references(5))
    (references(6) / "refs.json").write_text("{")
    (tmp_path / "files" / "7.nwb").unlink()
    found = {path[6:-4]: each for path, each in check().items()}
    assert {name: each.verdict for name, each in found.items()} == {
        "0": "equal",
        "1": "stale",
        "2": "stale",
        "3": "unchecked",
        "4": "broken",
        "5": "broken",
        "6": "broken",
        "7": "stale",
    }
    assert "seed" in found["4"].reason
    assert not [each.reason for each in found.values() if "not published" in each.reason]
    assert "not there" in found["5"].reason
    assert all("X-Amz" not in each.reason for each in found.values())
    (record,) = layout.folder.glob("**/0.nwb.*.record.json")
    record.write_text("{}")
    bad = check()["sub-0/0.nwb"]
    assert (bad.verdict, bad.record, bad.dandiset, bad.version) == (
        "broken",
        layout.relative(record),
        "000001",
        "draft",
    )
    assert bad.asset_id == asset(0).asset_id


def test_what_could_not_be_checked_is_named_as_all_others(indexed):
    layout, _ = indexed
    for output in list_outputs([(layout, False)]):
        record = read_record(output.record)
        check = failed_check(output, ReadError("no answer"))
        assert check.verdict == "unchecked"
        assert (check.dandiset, check.version, check.path, check.asset_id) == (
            record.dandiset,
            record.version,
            record.path,
            record.asset_id,
        )
        output.record.unlink()
        gone = failed_check(output, ReadError("no answer"))
        assert gone.reason == "it was made anew while it was checked"
        assert (gone.path, gone.asset_id) == (record.path, record.asset_id)


def test_a_choice_is_the_same_for_the_same_seed_and_covers_all_in_time(indexed):
    layout, _ = indexed
    outputs = list_outputs([(layout, False)])
    assert len(outputs) == 8
    assert choose(outputs, count=None, seed=1) == choose(outputs, count=9, seed=1) == outputs
    three = choose(outputs, count=3, seed=1)
    assert (len(three), choose(outputs, count=3, seed=1)) == (3, three)
    assert set(three) <= set(outputs)
    assert {each for seed in range(40) for each in choose(outputs, count=3, seed=seed)} == set(outputs)
    assert all(read_record(each.record).references for each in three)


@pytest.mark.parametrize(
    ("verdicts", "code"),
    [([], 0), (["equal"], 0), (["equal", "unchecked"], 3), (["stale", "unchecked"], 1), (["broken"], 1)],
)
def test_exit_codes(verdicts, code):
    checks = [OutputCheck("r", verdict) for verdict in verdicts]
    assert ChecksSummary(9, 1, checks).exit_code == code


def test_what_was_found_is_written_to_the_output_that_it_is_about(layout):
    checks = [
        OutputCheck("a", "equal", path="a.nwb"),
        OutputCheck("b", "stale", path="b.nwb", reason="gone"),
        OutputCheck("c", "broken", path="secret.nwb", private=True),
    ]
    summary = ChecksSummary(5, 7, checks)
    path = write_checks(summary, layout, private=False, started="now")
    content = json.loads(path.read_text())
    assert (content["checked"], content["counts"], content["seed"]) == (2, {"equal": 1, "stale": 1}, 7)
    assert [each["path"] for each in content["found"]] == ["b.nwb"]
    assert "secret" not in path.read_text()
    private = write_checks(summary, layout, private=True, started="now")
    assert [each["path"] for each in json.loads(private.read_text())["found"]] == ["secret.nwb"]
