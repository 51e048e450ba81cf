"""One Prefect server for all tests of flows, and an archive of good and bad files."""

import http.server
import json
import os
import threading
from pathlib import Path
from types import SimpleNamespace

import h5py
import numpy as np
import pytest
from site_by_hand import page_of

from flows.prefect_settings import prepare
from shadowzarr.testing import Archive, ArchiveServer

KEY_VARIABLE = "SHADOWZARR_TEST_KEY"
KEY = "b" * 40


@pytest.fixture(scope="session")
def prefect_server(tmp_path_factory):
    """A server that flows of this process, and of processes it starts, report to."""
    with pytest.MonkeyPatch.context() as patch:
        prepare(os.environ)
        patch.setenv("PREFECT_HOME", str(tmp_path_factory.mktemp("prefect")))
        from prefect.settings import PREFECT_API_URL
        from prefect.testing.utilities import prefect_test_harness

        with prefect_test_harness(server_startup_timeout=300):
            yield PREFECT_API_URL.value()


def write_small_file(path: Path, *, seed: int = 0) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    with h5py.File(path, "w") as file:
        file.attrs["seed"] = seed
        file.create_dataset("counts", data=np.arange(300) + seed, chunks=(100,), compression="gzip")
        file["series/values"] = np.linspace(0, seed + 1, 500)
        file["title"] = f"file {seed}"
    return path


@pytest.fixture(scope="session")
def write_file():
    return write_small_file


@pytest.fixture
def archive(tmp_path):
    """Six good assets, one of them twice, a cut file, a text file under NWB's name, and notes."""
    contents = Archive()
    contents.add_user("owner", key=KEY)
    contents.add_dandiset("000001")
    files = tmp_path / "files"
    for number in range(6):
        contents.add_asset(
            "000001", f"sub-{number}/{number}.nwb", write_small_file(files / f"{number}.nwb", seed=number)
        )
    contents.add_asset("000001", "sub-9/copy.nwb", files / "0.nwb")
    (files / "cut.nwb").write_bytes((files / "1.nwb").read_bytes()[:3000])
    (files / "text.nwb").write_text("this is text, whatever its name says\n" * 50)
    (files / "notes.txt").write_text("notes")
    for name in ("cut.nwb", "text.nwb"):
        contents.add_asset("000001", f"bad/{name}", files / name)
    contents.add_asset("000001", "notes.txt", files / "notes.txt")
    with ArchiveServer(contents) as server:
        yield server


@pytest.fixture
def write_config(tmp_path, archive):
    """Writes a configuration for the archive; text is appended to the least there can be."""

    def write(more: str = "", *, name: str = "config.yaml", output: str | None = None) -> Path:
        path = tmp_path / name
        path.write_text(
            f"flow: index_dandisets\narchive: {archive.api_url}\ndandisets:\n  - id: '000001'\n"
            f"output: {output or tmp_path / 'out'}\nrun: {{concurrency: 2, retries: 1, timeout: 60}}\n{more}"
        )
        return path

    return write


@pytest.fixture
def built(tmp_path, monkeypatch):
    """A page that is built, in place of the real one."""
    page = page_of(tmp_path / "built")
    for module in ("shadowzarr.catalog.site.built_page", "shadowzarr.catalog.site.write_site"):
        monkeypatch.setattr(f"{module}.built_page", lambda: page)
    return page


@pytest.fixture
def hook():
    """A server that keeps what it is sent and answers as it is told."""
    kept = SimpleNamespace(bodies=[], status=200)

    class Receiver(http.server.BaseHTTPRequestHandler):
        def do_POST(self):
            kept.bodies.append(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
            self.send_response(kept.status)
            self.send_header("Location", "/elsewhere")
            self.end_headers()

        def log_message(self, *_):
            pass

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Receiver) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        kept.url = f"http://127.0.0.1:{server.server_port}/hooks-T0/B0/verysecret"
        yield kept
        server.shutdown()
