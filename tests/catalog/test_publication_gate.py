import threading

import pytest

from shadowzarr.catalog.jobs import VerificationOptions
from shadowzarr.catalog.plan import AssetWork, record_key
from shadowzarr.catalog.publication_gate import PublicationGate
from shadowzarr.catalog.records import ErrorSummary
from shadowzarr.catalog.stages import AssetResults, Workshop, publish_and_record, record_failure
from shadowzarr.errors import PoolClosedError


def test_many_pass_at_once_until_it_is_shut():
    gate = PublicationGate()
    with gate.passing(), gate.passing():
        assert not gate.shut(timeout=0.01)
    assert gate.shut(timeout=0.01)
    with pytest.raises(PoolClosedError, match="being stopped"), gate.passing():
        pytest.fail("it was open")


def test_shutting_waits_for_those_inside():
    gate = PublicationGate()
    entered, leave = threading.Event(), threading.Event()

    def publish():
        with gate.passing():
            entered.set()
            leave.wait(30)

    thread = threading.Thread(target=publish)
    thread.start()
    entered.wait(30)
    threading.Timer(0.1, leave.set).start()
    assert gate.shut(timeout=30)
    thread.join()


def test_a_failed_publication_has_left_too():
    gate = PublicationGate()
    with pytest.raises(ValueError, match="x"), gate.passing():
        raise ValueError("x")
    assert gate.shut(timeout=0.01)


class Processes:
    killed = False

    def kill(self):
        self.killed = True


def test_a_stopped_workshop_publishes_and_records_nothing(layout, asset):
    processes = Processes()
    shop = Workshop(
        public=layout,
        private=None,
        pool=processes,
        archive=None,
        verification=VerificationOptions(),
    )
    work = AssetWork(asset, asset.download_url, layout.options, record_key(asset, layout.options), "new")
    assert shop.stop(timeout=1)
    assert processes.killed
    with pytest.raises(PoolClosedError):
        publish_and_record(shop, work, AssetResults())
    with pytest.raises(PoolClosedError):
        record_failure(shop, work, AssetResults(), ErrorSummary("index", "E", "x"))
    assert not layout.folder.exists()
