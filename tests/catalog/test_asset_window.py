"""The window with stages that are only pretended: order, bounds, failures, and assets of one blob."""

import contextlib
import threading
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest

from shadowzarr.catalog.asset_window import StageEnd, blob_key, known_twins, run_assets
from shadowzarr.catalog.jobs import IndexResult
from shadowzarr.catalog.layout import ListedRecord
from shadowzarr.catalog.plan import AssetWork, record_key
from shadowzarr.catalog.records import RecordCounts, SkippedObject, StageTime, VerificationSummary
from shadowzarr.catalog.resting import Resting
from shadowzarr.catalog.stages import Done, Published, failure_record, success_record
from shadowzarr.errors import NotHDF5Error, OutputError, ReferencesDifferError, TransientReadError

TIME = StageTime("index", "t", 0.5, 0)
PUBLISHED = Done(Published("a.shadowzarr", 7, 1), StageTime("publish", "t", 0.5))


class Pretended:
    """Runs each stage in a thread of its own; fails where it is told to."""

    def __init__(self, failures=(), skipped=()):
        self.failures = dict(failures)
        self.skipped = list(skipped)
        self.calls = []
        self.twins = {}
        self.in_flight = Counter()
        self.most = 0
        self._lock = threading.Lock()

    def submit(self, stage, arguments, ended):
        work = arguments[0]
        with self._lock:
            self.calls.append((work.asset.path, stage))
            if stage == "index":
                self.twins[work.asset.path] = arguments[1]
                self.in_flight[work.asset.path] += 1
                self.most = max(self.most, self.in_flight.total())
        threading.Thread(target=lambda: ended(self._run(stage, arguments))).start()

    def _run(self, stage, arguments):
        work = arguments[0]
        error = self.failures.get((work.asset.path, stage))
        if stage == "record_failure" or (stage == "publish_and_record" and error is None):
            with self._lock:
                self.in_flight[work.asset.path] -= 1
        if error is not None:
            return StageEnd(error=error)
        values = {
            "index": lambda: Done(IndexResult(RecordCounts(chunks=3), self.skipped), TIME),
            "verify": lambda: Done(VerificationSummary("sample", equal=True), replace(TIME, stage="verify")),
            "publish_and_record": lambda: success_record(work, replace(arguments[1], published=PUBLISHED)),
            "record_failure": lambda: failure_record(*arguments),
        }
        return StageEnd(values[stage]())


@pytest.fixture
def works(asset, layout):
    def make(*paths, etags=None, private=False):
        found = []
        for number, path in enumerate(paths):
            etag = etags[number] if etags else f"{number:032x}-1"
            each = replace(asset, path=path, etag=etag)
            key = record_key(each, layout.options)
            found.append(AssetWork(each, each.download_url, layout.options, key, "new", private))
        return found

    return make


def run(works, runner, **options):
    values = {"window": 2, "record_path": lambda work, _: Path(work.asset.path)} | options
    return list(run_assets(works, runner, **values))


def test_an_asset_goes_through_its_stages_in_order(works):
    runner = Pretended()
    (record,) = run(works("a"), runner)
    assert [stage for _, stage in runner.calls] == ["index", "verify", "publish_and_record"]
    assert (record.outcome, record.references, record.references_bytes) == ("indexed", "a.shadowzarr", 7)
    assert [time.stage for time in record.stages] == ["index", "verify", "publish"]
    assert record.verification.equal
    assert record.counts.chunks == 3


def test_objects_left_out_make_an_asset_partial(works):
    (record,) = run(works("a"), Pretended(skipped=[SkippedObject("/x", "dataset", "why")]))
    assert record.outcome == "partial"


def test_no_more_assets_are_in_flight_than_the_window_has(works):
    runner = Pretended()
    assert len(run(works(*"abcdefghij"), runner, window=3)) == 10
    assert runner.most == 3


def test_work_is_taken_only_as_places_free_up(works):
    taken = []

    def taking():
        for work in works(*"abcdef"):
            taken.append(work.asset.path)
            yield work

    records = run_assets(taking(), Pretended(), window=2, record_path=lambda work, _: Path(work.asset.path))
    next(records)
    assert len(taken) == 2
    assert len(list(records)) == 5


@pytest.mark.parametrize("stage", ["index", "verify", "publish_and_record"])
def test_a_failing_asset_is_recorded_and_the_others_go_on(works, stage):
    runner = Pretended({("b", stage): NotHDF5Error("it is text")})
    records = {record.path: record for record in run(works("a", "b", "c"), runner)}
    assert {path: record.outcome for path, record in records.items()} == {
        "a": "indexed",
        "b": "failed",
        "c": "indexed",
    }
    error = records["b"].error
    assert (error.stage, error.kind, error.message, error.transient) == (
        stage.partition("_")[0],
        "NotHDF5Error",
        "it is text",
        False,
    )
    assert ("b", "record_failure") in runner.calls


def test_a_passing_error_is_recorded_as_one(works):
    (record,) = run(works("a"), Pretended({("a", "index"): TransientReadError("busy")}))
    assert record.error.transient


def test_an_unexpected_error_says_its_kind(works):
    (record,) = run(works("a"), Pretended({("a", "verify"): RuntimeError("odd\n  thing")}))
    assert record.error.message == "unexpected RuntimeError: odd thing"


def test_what_a_verification_found_is_kept(works):
    summary = VerificationSummary("full", differences=["/x: values"], difference_count=4)
    (record,) = run(works("a"), Pretended({("a", "verify"): ReferencesDifferError(summary)}))
    assert record.verification == summary
    assert "4 places: /x: values" in record.error.message
    assert record.references is None


def test_an_asset_whose_failure_cannot_be_recorded_is_failed(works):
    failures = {("a", "record_failure"): OutputError("disk full"), ("a", "index"): NotHDF5Error("x")}
    (record,) = run(works("a"), Pretended(failures))
    assert (record.outcome, record.error.stage, record.error.message) == ("failed", "record", "disk full")


def test_stopping_brings_those_in_flight_to_their_end_and_starts_no_more(works):
    runner = Pretended({("a", "index"): NotHDF5Error("x")})
    records = run(works(*"abcdefgh"), runner, window=2, stop_on_error=True)
    assert {"a"} < {record.path for record in records} < set("abcdefgh")


def test_assets_of_one_blob_wait_for_the_first_and_are_pointed_anew(works):
    runner = Pretended()
    records = run(works("a", "b", "c", "d", etags=["e-1", "e-1", "f-1", "e-1"]), runner, window=4)
    assert len(records) == 4
    assert runner.twins == {"a": None, "b": Path("a"), "c": None, "d": Path("a")}
    assert runner.calls.index(("b", "index")) > runner.calls.index(("a", "publish_and_record"))


def test_when_the_first_fails_the_next_is_tried_by_itself(works):
    runner = Pretended({("a", "index"): NotHDF5Error("x")})
    records = run(works("a", "b", "c", etags=["e-1"] * 3), runner)
    assert [record.outcome for record in records] == ["failed", "indexed", "indexed"]
    assert runner.twins == {"a": None, "b": None, "c": Path("b")}


def test_blobs_of_earlier_runs_are_used_and_outputs_kept_apart(works):
    (public,), (private,) = works("a"), works("b", private=True, etags=[f"{0:032x}-1"])
    runner = Pretended()
    run([public, private], runner, twins={blob_key(public): Path("known")})
    assert runner.twins == {"a": Path("known"), "b": None}


def test_known_twins_of_both_outputs(works):
    (work,) = works("a")
    listed = {work.key.blob_key: ListedRecord(work.key, "indexed", Path("p"))}
    assert known_twins(listed, {}) == {(False, work.key.blob_key): Path("p")}
    assert known_twins({}, listed) == {(True, work.key.blob_key): Path("p")}


class HeldUp(Pretended):
    """Brings some assets to their end only when a number of others have been published."""

    def __init__(self, paths, others):
        super().__init__()
        self._paths, self._needed = paths, others
        self._published = 0
        self._go_on = threading.Event()

    def _run(self, stage, arguments):
        if stage == "index" and arguments[0].asset.path in self._paths:
            self._wait(arguments[0])
        end = super()._run(stage, arguments)
        if stage == "publish_and_record":
            with self._lock:
                self._published += 1
                if self._published == self._needed:
                    self._go_on.set()
        return end

    def _wait(self, _work):
        self._go_on.wait()

    def came_last(self, paths, others):
        """Whether the others had all been handed over for publishing before these went on."""
        published = [self.calls.index((path, "publish_and_record")) for path in others]
        return max(published) < min(self.calls.index((path, "verify")) for path in paths)


def at(host, works):
    return [replace(work, url=f"https://{host}/{work.asset.path}") for work in works]


def test_a_host_that_answers_slowly_delays_nothing_of_others(works):
    every = works(*"abcdefgh")
    slow, quick = at("slow.org", every[:4]), at("quick.org", every[4:])
    runner = HeldUp("a", len(quick))
    assert len(run(slow + quick, runner, window=2, per_host=1)) == 8
    assert runner.came_last("abcd", "efgh")


def test_no_host_has_more_assets_in_flight_than_it_may(works):
    runner = Pretended()
    assert len(run(at("a.org", works(*"abcdefgh")), runner, window=4, per_host=2)) == 8
    assert runner.most <= 2


def test_assets_of_one_blob_wait_without_taking_their_hosts_place(works):
    same = at("a.org", works("a", "b", "c", etags=["0" * 32 + "-1"] * 3))
    records = run(same + at("a.org", works("d")), Pretended(), window=4, per_host=1)
    assert sorted(record.path for record in records) == ["a", "b", "c", "d"]


def test_when_the_time_is_over_what_waits_is_left(works):
    class NoTime:
        def __init__(self):
            self.left, self.asked = [], 0

        def may_start(self):
            self.asked += 1
            return self.asked <= 2

        def leave(self, rest):
            self.left += [work.asset.path for work in rest]

    budget = NoTime()
    every = works(*"abcd")
    every = at("a.org", every[:3]) + at("b.org", every[3:])
    records = run(every, Pretended(), window=4, per_host=1, time_budget=budget)
    assert sorted(record.path for record in records) == ["a", "d"]
    assert sorted(budget.left) == ["b", "c"]


class Retrying(HeldUp):
    """Tries the assets that it holds up again, after each has failed once."""

    def __init__(self, paths, others, resting):
        super().__init__(paths, others)
        self._resting = resting

    def _wait(self, work):
        with contextlib.suppress(TransientReadError), self._resting.trying(work):
            raise TransientReadError("try again")
        self._go_on.wait()
        with self._resting.trying(work):
            pass


def test_assets_between_two_tries_keep_nobody_from_being_begun(works):
    resting = Resting()
    runner = Retrying("ab", 4, resting)
    assert len(run(works(*"abcdef"), runner, window=2, resting=resting)) == 6
    assert runner.came_last("ab", "cdef")
    assert len(resting) == 0
    assert runner.most <= 4


def test_a_slow_asset_keeps_only_its_own_place(works):
    runner = HeldUp("a", 4)
    assert len(run(works(*"abcde"), runner, window=2)) == 5
    assert runner.came_last("a", "bcde")


def test_only_errors_that_may_pass_make_an_asset_rest(works):
    (work,), resting, told = works("a"), Resting(), []
    resting.listen(lambda: told.append(len(resting)))
    for error, count in ((NotHDF5Error("no"), 0), (TransientReadError("busy"), 1)):
        with contextlib.suppress(NotHDF5Error, TransientReadError), resting.trying(work):
            raise error
        assert len(resting) == count
    assert told == [1]
    with resting.trying(work):
        assert len(resting) == 0
