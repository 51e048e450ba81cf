"""Prefect's limits by host: a slot is taken while a file is read, where there is a limit."""

from types import SimpleNamespace

import pytest

from shadowzarr.errors import TransientReadError


def work(host):
    return SimpleNamespace(url=f"https://{host}/a", asset=SimpleNamespace(local_path=""))


def test_a_slot_of_the_hosts_limit_is_taken_and_given_back(prefect_server, monkeypatch):
    from prefect.client.orchestration import get_client
    from prefect.client.schemas.actions import GlobalConcurrencyLimitCreate

    from flows import host_limits

    with get_client(sync_client=True) as client:
        for name in ("host:a.test", "elsewhere"):
            client.create_global_concurrency_limit(GlobalConcurrencyLimitCreate(name=name, limit=1))

        def taken():
            return client.read_global_concurrency_limit_by_name("host:a.test").active_slots

        admission = host_limits.host_admission()
        with admission(work("a.test")):
            assert taken() == 1
        assert taken() == 0
        with admission(work("b.test")), admission(work("elsewhere")):
            assert taken() == 0

    def refused(*_, **__):
        raise RuntimeError("no answer")

    monkeypatch.setattr(host_limits, "concurrency", refused)
    with (
        pytest.raises(
            TransientReadError, match=r"Prefect's limit host:a\.test could be had \(RuntimeError\)"
        ),
        admission(work("a.test")),
    ):
        pass
