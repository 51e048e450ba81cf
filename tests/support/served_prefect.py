"""Prefect's server as in production, on loopback for one test: PostgreSQL, and Redis between its parts."""

import contextlib
import http.client
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

WAIT_SECONDS = 180.0


@contextlib.contextmanager
def served_prefect(program: Callable[[str], str], home: Path) -> Iterator[str]:
    """Start all three, and give the URL of the API.

    Parameters
    ----------
    program : callable
        Gives the path of a program of the distribution, or skips.
    home : Path
        Prefect's folder.
    """
    redis = program("redis-server")
    binaries = postgres_binaries(program)
    with contextlib.ExitStack() as stack:
        database = stack.enter_context(postgres(binaries))
        redis_port = stack.enter_context(redis_server(redis))
        settings = {
            "PREFECT_HOME": str(home),
            "PREFECT_API_DATABASE_CONNECTION_URL": database,
            "PREFECT_MESSAGING_BROKER": "prefect_redis.messaging",
            "PREFECT_MESSAGING_CACHE": "prefect_redis.messaging",
            "PREFECT_SERVER_EVENTS_CAUSAL_ORDERING": "prefect_redis.ordering",
            "PREFECT_SERVER_CONCURRENCY_LEASE_STORAGE": "prefect_redis.lease_storage",
            "PREFECT_REDIS_MESSAGING_HOST": "127.0.0.1",
            "PREFECT_REDIS_MESSAGING_PORT": str(redis_port),
            "PREFECT_SERVER_ANALYTICS_ENABLED": "false",
        }
        yield stack.enter_context(server(settings))


def postgres_binaries(program: Callable[[str], str]) -> Path:
    """The folder of PostgreSQL's programs, which Debian keeps off the path."""
    found = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"))
    return found[-1].parent if found else Path(program("initdb")).parent


@contextlib.contextmanager
def postgres(binaries: Path) -> Iterator[str]:
    """A data base of its own; PostgreSQL refuses to run as root, so that root starts it as another user."""
    folder = Path(tempfile.mkdtemp(prefix="postgres-", dir="/tmp"))
    as_user: list[str] = []
    if os.getuid() == 0:
        shutil.chown(folder, "postgres", "postgres")
        as_user = ["setpriv", "--reuid=postgres", "--regid=postgres", "--clear-groups"]
    port = free_port()
    options = ["-A", "trust", "-U", "prefect", "--no-sync", "-E", "UTF8", "--locale=C"]
    try:
        done = subprocess.run(
            [*as_user, str(binaries / "initdb"), "-D", str(folder / "data"), *options],
            capture_output=True,
            text=True,
            cwd="/",
        )
        assert done.returncode == 0, done.stderr
        settings = [f"unix_socket_directories={folder}", "listen_addresses=127.0.0.1", "fsync=off"]
        command = [str(binaries / "postgres"), "-D", str(folder / "data"), "-p", str(port)]
        command += [part for setting in settings for part in ("-c", setting)]
        with process([*as_user, *command], end=signal.SIGINT):
            wait_for_port(port)
            yield f"postgresql+asyncpg://prefect@127.0.0.1:{port}/postgres"
    finally:
        shutil.rmtree(folder, ignore_errors=True)


@contextlib.contextmanager
def redis_server(program: str) -> Iterator[int]:
    """Redis, which keeps nothing; gives its port."""
    port = free_port()
    with (
        tempfile.TemporaryDirectory() as folder,
        process([program, "--port", str(port), "--bind", "127.0.0.1", "--save", "", "--dir", folder]),
    ):
        wait_for_port(port)
        yield port


@contextlib.contextmanager
def server(settings: Mapping[str, str]) -> Iterator[str]:
    """Prefect's server with these settings; gives the URL of its API."""
    port = free_port()
    command = [sys.executable, "-m", "prefect", "server", "start", "--no-ui", "--port", str(port)]
    with process(command, environment=settings) as running:
        deadline = time.monotonic() + WAIT_SECONDS
        while not is_healthy(port):
            assert running.poll() is None, "Prefect's server ended"
            assert time.monotonic() < deadline, "Prefect's server does not answer"
            time.sleep(0.5)
        yield f"http://127.0.0.1:{port}/api"


def is_healthy(port: int) -> bool:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=5)
    try:
        connection.request("GET", "/api/health")
        return connection.getresponse().status == 200
    except OSError:
        return False
    finally:
        connection.close()


@contextlib.contextmanager
def process(
    command: list[str], *, environment: Mapping[str, str] | None = None, end: int = signal.SIGTERM
) -> Iterator[subprocess.Popen[bytes]]:
    """A process that ends with the block, and whatever it has started."""
    running = subprocess.Popen(
        command,
        env={**os.environ, **(environment or {})},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    try:
        yield running
    finally:
        running.send_signal(end)
        try:
            running.wait(20)
        except subprocess.TimeoutExpired:
            os.killpg(running.pid, signal.SIGKILL)
            running.wait()


def wait_for_port(port: int) -> None:
    deadline = time.monotonic() + WAIT_SECONDS
    while True:
        with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), timeout=1):
            return
        assert time.monotonic() < deadline, f"nothing listens on {port}"
        time.sleep(0.1)


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return int(listener.getsockname()[1])
