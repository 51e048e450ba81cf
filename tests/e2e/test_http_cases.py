"""The cases from public bug reports about reading over HTTP, against the server that comes with them."""

import gc
import importlib.util
import shutil
import sys

import pytest
import zarr

from shadowzarr import SourceChangedError, generate_rfs, open_rfs, write_rfs
from shadowzarr.access import archives, http_client
from shadowzarr.access.http_client import RetryPolicy
from shadowzarr.access.range_reader import DefaultReader
from shadowzarr.errors import ShadowzarrError

KEY = "CASES_API_KEY"
STEPS = {"B59": 6, "B60": 1, "B61": 1, "B63": 3, "B65": 2, "B71": 1, "B73": 1}


@pytest.fixture(autouse=True)
def _alone(monkeypatch):
    """Short pauses, no keys of this machine, and no garbage collection while a server runs here."""
    quick = RetryPolicy(attempts=4, first_pause=0.001, longest_pause=0.01)
    monkeypatch.setattr(http_client, "DEFAULT_RETRIES", quick)
    monkeypatch.setattr(archives, "_registered", dict(archives._registered))
    gc.disable()
    yield
    gc.enable()


@pytest.fixture(scope="module")
def servers(shared):
    spec = importlib.util.spec_from_file_location("range_server", shared / "cases" / "range_server.py")
    module = sys.modules["range_server"] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


class Run:
    """One entry of a case's ``http``: references made, and its arrays read, with its faults."""

    def __init__(self, servers, cases, name, entry, folder):
        self.servers, self.entry, self.folder = servers, entry, folder
        self.path = folder / f"{name}.h5"
        self.same = cases.same
        self.want = cases.CASES[name](self.path)["arrays"]

    def __call__(self, server, monkeypatch):
        address = getattr(server, self.entry["address"])
        if "key" in self.entry:
            archives.register_archive(address, key_env=KEY)
            if self.entry["key"]:
                monkeypatch.setenv(KEY, self.entry["key"])
        faults, when = self.servers.Faults(**self.entry["faults"]), self.entry["when"]
        server.fault = faults if when in ("generate", "both") else self.servers.Faults()
        write_rfs(generate_rfs(address), self.folder / "x.shadowzarr")
        if when == "read":
            server.fault = faults
            server.requests.clear()
        root = open_rfs(self.folder / "x.shadowzarr", reader=DefaultReader())
        for node in self.entry["arrays"]:
            assert self.same(root[node][...], self.want[node]), node
        if when == "generate":
            return
        self.check_limits(server)

    def check_limits(self, server):
        limits = self.entry.get("limits", {})
        assert len(server.requests) <= limits.get("requests", 10**9)
        assert sum(request.sent for request in server.requests) <= limits.get("bytes", 10**12)


@pytest.mark.parametrize(
    ("name", "number"), [(name, i) for name, steps in STEPS.items() for i in range(steps)]
)
def test_case(handed_cases, servers, name, number, tmp_path, monkeypatch):
    steps = handed_cases.CASES[name](tmp_path / "probe.h5")["http"]
    assert len(steps) == STEPS[name]
    entry = steps[number]
    run = Run(servers, handed_cases, name, entry, tmp_path)
    with servers.RangeServer(run.path) as server:
        if entry["expect"] == "values":
            run(server, monkeypatch)
        else:
            try:
                run(server, monkeypatch)
            except ShadowzarrError:
                run.check_limits(server)
            else:
                assert entry["expect"] == "either"
        forbidden = entry.get("no_header_on_file")
        if forbidden:
            files = [r for r in server.requests if r.path.startswith("/file")]
            assert files
            assert not any(forbidden in request.headers for request in files)


def test_a_failing_request_is_never_fill_value(handed_cases, servers, tmp_path):
    """Every array of B59 raises under every fault: none passes because another raised first."""
    path = tmp_path / "B59.h5"
    case = handed_cases.CASES["B59"](path)
    with servers.RangeServer(path) as server:
        rfs = generate_rfs(server.url)
        for entry in case["http"]:
            if entry["expect"] != "raise":
                continue
            server.fault = servers.Faults(**entry["faults"])
            root = open_rfs(rfs, reader=DefaultReader())
            for node in entry["arrays"]:
                with pytest.raises(ShadowzarrError):
                    root[node][...]


def test_a_replaced_file(handed_cases, servers, tmp_path):
    """B69."""
    path = tmp_path / "B69.h5"
    case = handed_cases.CASES["B69"](path)
    with servers.RangeServer(path) as server:
        rfs = generate_rfs(server.url)
        assert handed_cases.same(open_rfs(rfs)["x"][...], case["arrays"]["x"])
        shutil.copyfile(case["replace_with"], path)
        with pytest.raises(SourceChangedError):
            open_rfs(rfs)["x"][...]
        there = open_rfs(rfs, validate_sources=False)["x"][...]
        assert handed_cases.same(there, case["arrays"]["x"][::-1])


@pytest.mark.parametrize("concurrency", [10, 100])
def test_many_small_chunks(handed_cases, servers, tmp_path, concurrency):
    """B73: at zarr's default too."""
    path = tmp_path / "B73.h5"
    case = handed_cases.CASES["B73"](path)
    with servers.RangeServer(path) as server:
        rfs = generate_rfs(server.url)
        server.requests.clear()
        with zarr.config.set({"async.concurrency": concurrency}):
            assert handed_cases.same(open_rfs(rfs)["x"][...], case["arrays"]["x"])
        assert len(server.requests) <= 3
