"""A run over an embargoed dandiset that reports to Prefect, and logs all it can: its secrets are nowhere.

Searched is all that the run writes, sends, prints and leaves with Prefect, and its database byte by byte.
"""

import json
import os
import subprocess
import sys
from pathlib import Path

import duckdb
import pytest
import zarr

from flows.__main__ import main
from shadowzarr.testing import Archive, ArchiveServer, Fault

pytest.importorskip("icechunk", reason="icechunk is not installed")
pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::ResourceWarning")

KEY = "k3y-of-the-owner-of-000001"
VARIABLE = "ARCHIVE_UNDER_EMBARGO_KEY"
WEBHOOK = "T0/B0/verysecret"
"""In the URL of the fixture `hook`."""

ALL_LOGS = {
    "PREFECT_LOGGING_TO_API_ENABLED": "true",
    "PREFECT_LOGGING_LEVEL": "DEBUG",
    "PREFECT_LOGGING_EXTRA_LOGGERS": "shadowzarr,urllib3",
    "PREFECT_LOGGING_HANDLERS_CONSOLE_LEVEL": "DEBUG",
}

SEARCHED = {
    "standard output",
    "webhook",
    "catalogues",
    "Icechunk",
    "prefect-test.db",
    "logs",
    "runs and artifacts",
    "out/report.html",
    "private/report.html",
    "out/.shadowzarr/catalog.sqlite",
    "private/.shadowzarr/catalog.sqlite",
}
"""Where an asset's path must be found, or the search would prove nothing."""

CONFIG = """\
flow: index_dandisets
archive: {{api_url: '{archive}', api_key_env: {variable}}}
dandisets:
  - id: '000001'
  - id: '000002'
output: {{folder: {folder}/out, private_output: {folder}/private}}
run: {{concurrency: 1, retries: 1, timeout: 60}}
icechunk: {{repository: {folder}/repositories}}
notify: {{webhook: '{webhook}', on: always}}
"""


@pytest.fixture
def archive(tmp_path, write_file):
    """Two recordings under embargo, two that are open; of each pair one that its store refuses."""
    contents = Archive()
    contents.add_user("owner", key=KEY)
    contents.add_dandiset("000001", embargo="EMBARGOED", owners=["owner"])
    contents.add_dandiset("000002")
    with ArchiveServer(contents) as server:
        for number in range(4):
            path = write_file(tmp_path / "files" / f"{number}.nwb", seed=number)
            dandiset = ("000001", "000002")[number % 2]
            asset = contents.add_asset(dandiset, f"sub-{number}/{number}.nwb", path)
            if number > 1:
                server.store.faults.add(Fault(path=server.object_path(asset), status=400))
        year = Fault(status=503, retry_after=31_536_000, after=2, times=2)
        server.store.faults.add(year)  # too long for the library, which asks twice: Prefect tries again
        yield server
        assert year.hits == 2


@pytest.fixture
def signatures(archive, monkeypatch):
    """Those of all URLs that the archive gives."""
    given = []
    sign = archive.signer.sign

    def noted(*arguments, **options):
        url = sign(*arguments, **options)
        given.append(url.rpartition("X-Amz-Signature=")[2].partition("&")[0])
        return url

    monkeypatch.setattr(archive.signer, "sign", noted)
    return given


def kept_by_prefect():
    """All bytes of the server's database and of Prefect's folder, and what its API gives."""
    from prefect.client.orchestration import get_client
    from prefect.settings import PREFECT_API_DATABASE_CONNECTION_URL, PREFECT_HOME

    database = Path(PREFECT_API_DATABASE_CONNECTION_URL.value().partition("///")[2])
    files = [*database.parent.glob(f"{database.name}*"), *PREFECT_HOME.value().rglob("*")]
    kept = {path.name: path.read_bytes() for path in files if path.is_file()}
    kept[database.name] += kept.pop(f"{database.name}-wal", b"")
    with get_client(sync_client=True) as client:
        runs = [*client.read_flow_runs(), *client.read_task_runs(), *client.read_artifacts()]
        logs = [log.message for log in client.read_logs()]
    kept["runs and artifacts"] = "".join(run.model_dump_json() for run in runs).encode()
    return kept | {"logs": "\n".join(logs).encode()}


def rows_of(path):
    """All values of a table, whose file is compressed."""
    return repr(duckdb.sql(f"FROM '{path}'").fetchall()).encode()


def held_by_icechunk(place):
    """All that the files of a repository hold compressed: documents, and where chunks are."""
    from shadowzarr.icechunk import open_repository

    repo = open_repository(place, create=False)
    session = repo.readonly_session("main")
    history = [(each.message, each.metadata) for each in repo.ancestry(branch="main")]
    root = zarr.open_group(session.store, mode="r")
    nodes = [(name, node.attrs.asdict()) for name, node in root.members(max_depth=None)]
    return repr((session.all_virtual_chunk_locations(), history, nodes, repo.config)).encode()


def test_a_run_that_reports_to_prefect(prefect_server, archive, signatures, hook, built, tmp_path):
    folder = tmp_path / "work"
    folder.mkdir()
    config = tmp_path / "config.yaml"
    config.write_text(
        CONFIG.format(archive=archive.api_url, variable=VARIABLE, folder=folder, webhook=hook.url)
    )
    run = [sys.executable, "-m", "flows", "run", str(config), "--json-lines"]
    settings = {VARIABLE: KEY, "PREFECT_API_URL": prefect_server, **ALL_LOGS}
    done = subprocess.run(
        run, env={**os.environ, **settings}, capture_output=True, timeout=240, stdin=subprocess.DEVNULL
    )
    assert done.returncode == 1, done.stderr.decode()
    assert main(["catalog", "site", str(folder / "out")]) == 0
    texts = {
        "standard output": done.stdout,
        "standard error": done.stderr,
        "webhook": json.dumps(hook.bodies).encode(),
        "catalogues": b"".join(map(rows_of, folder.rglob("*.parquet"))),
        "Icechunk": held_by_icechunk(folder / "repositories" / "000002"),
        **kept_by_prefect(),
        **{str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()},
    }
    secrets = [KEY, WEBHOOK, *signatures, "X-Amz-Signature", "AKIASTANDIN"]
    assert [(place, each) for place, text in texts.items() for each in secrets if each.encode() in text] == []
    assert len(signatures) > 3
    assert {len(each) for each in signatures} == {64}
    named = [asset.encode() for asset in ("sub-0/0.nwb", "sub-1/1.nwb", "sub-3/3.nwb")]
    found = {place for place, text in texts.items() if any(asset in text for asset in named)}
    assert found >= SEARCHED
    assert b"AwaitingRetry" in texts["prefect-test.db"]
    assert b"the server answered 400" in texts["logs"]
    assert b"/dandiarchive/blobs/" in texts["Icechunk"]
