"""What all tests share: the files handed to the project, and where they skip without them."""

import contextlib
import gc
import importlib.util
import os
import shutil
import signal
import sys
import warnings
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

from shadowzarr.testing.http_server import LoopbackServer

# A busy machine makes drawing examples slow; that says nothing about the code.
settings.register_profile("suite", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("suite")

ROOT = Path(__file__).resolve().parents[1]
SHARED = ROOT.parent / "shared"


def pytest_configure() -> None:
    """Let signals end what tests start, and have its modules compiled once."""
    _heed_signals()
    _keep_bytecode()


def _heed_signals() -> None:
    """Also where the tests themselves run in the background or by nohup."""
    usual = {signal.SIGINT: signal.default_int_handler, signal.SIGHUP: signal.SIG_DFL}
    for number, handler in usual.items():
        if signal.getsignal(number) is signal.SIG_IGN:
            signal.signal(number, handler)


def _keep_bytecode() -> None:
    """Keep what is compiled in the folder of pytest's cache, where the environment wants none beside sources.

    Hundreds of processes would compile what they import each time: the larger part of their start.
    """
    if os.environ.pop("PYTHONDONTWRITEBYTECODE", "") and sys.pycache_prefix is None:
        os.environ["PYTHONPYCACHEPREFIX"] = sys.pycache_prefix = str(ROOT / ".pytest_cache" / "bytecode")
        sys.dont_write_bytecode = False


def pytest_make_parametrize_id(val: object) -> str | None:
    """Names of parameters without addresses, so that all test processes agree on them."""
    return type(val).__name__ if type(val).__module__.startswith("h5py") else None


@pytest.fixture(scope="session", autouse=True)
def _no_garbage_collection_while_a_server_runs() -> Iterator[None]:
    """Keep a server of this process from waiting for h5py's lock.

    h5py holds one lock while it reads from a file object. A garbage collection that happens to run in
    the thread of a server which that read waits for, and that frees an h5py object, waits for the
    same lock: a dead-lock of the two, seen about once in a thousand tests.
    """
    start, close = LoopbackServer.start, LoopbackServer.close
    running: set[int] = set()

    def started(server: LoopbackServer) -> LoopbackServer:
        running.add(id(server))
        gc.collect()
        gc.freeze()  # what is left need not be looked at again before the next server
        gc.disable()
        return start(server)

    def closed(server: LoopbackServer) -> None:
        try:
            close(server)
        finally:
            running.discard(id(server))
            if not running:
                gc.enable()

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(LoopbackServer, "start", started)
        patch.setattr(LoopbackServer, "close", closed)
        yield


@pytest.fixture(scope="session")
def object_store_endpoint() -> Iterator[str]:
    """A server that answers as S3 does, on loopback; one for the whole run."""
    server = pytest.importorskip("moto.server", reason="moto, which stands for S3, is not installed")
    running = server.ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    running.start()
    yield "http://{}:{}".format(*running.get_host_and_port())
    running.stop()


@pytest.fixture
def object_store(object_store_endpoint: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """A client of it with a bucket "sources"; the usual variables lead there. Empty afterwards."""
    boto3 = pytest.importorskip("boto3")
    for name, value in {
        "AWS_ENDPOINT_URL": object_store_endpoint,
        "AWS_REGION": "us-east-1",
        "AWS_ACCESS_KEY_ID": "a",
        "AWS_SECRET_ACCESS_KEY": "s",
    }.items():
        monkeypatch.setenv(name, value)
    client = boto3.client("s3", endpoint_url=object_store_endpoint, region_name="us-east-1")
    client.create_bucket(Bucket="sources")
    yield client
    for bucket in client.list_buckets()["Buckets"]:
        for each in client.list_objects_v2(Bucket=bucket["Name"]).get("Contents", ()):
            client.delete_object(Bucket=bucket["Name"], Key=each["Key"])


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder of handed-in files; tests that want it skip when it is not there."""
    if not (SHARED / "corpus" / "MANIFEST.tsv").is_file():
        pytest.skip("the corpus of real files is not beside the repository (../shared)")
    return SHARED


@pytest.fixture(scope="session")
def handed_cases(shared: Path) -> ModuleType:
    """The module of cases from public bug reports, with the right values."""
    return _load("handed_cases", shared / "cases" / "handed_cases.py")


@pytest.fixture(scope="session")
def made_files(shared: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of the files that the corpus' builder makes for structures no real file has."""
    module = _load("make_missing", shared / "corpus" / "make_missing.py")
    folder = tmp_path_factory.mktemp("made")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ResourceWarning)  # some builders leave closing to the collector
        for path, _, big, build in module.CASES:
            if big:
                continue
            target = folder / path
            target.parent.mkdir(parents=True, exist_ok=True)
            with contextlib.suppress(module.Skip):
                build(str(target))
        gc.collect()
    return folder


def system_program(name: str) -> str:
    """Path of a program of the distribution; skips when it is missing and nobody insists."""
    found = shutil.which(name)
    if found is None:
        message = f"{name} is not installed"
        if os.environ.get("REQUIRE_SYSTEM") == "1":
            pytest.fail(message)
        pytest.skip(message)
    return found


def _load(name: str, path: Path) -> ModuleType:
    if name in sys.modules:
        return sys.modules[name]
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module
