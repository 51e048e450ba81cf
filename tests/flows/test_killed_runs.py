"""Runs that report to a served Prefect API and are killed, while a reader looks on."""

import os
from pathlib import Path

import pytest
from archive_trees import tree
from changing_archive import ChangingArchive
from other_processes import Meanwhile, Nursery, skip_without_fork
from work_to_kill import DANDISET, index_request, look_at_output

from flows.untold import MARK
from shadowzarr.catalog.child_pool import ChildPool
from shadowzarr.catalog.index_run import index_dandisets as index_without_prefect
from shadowzarr.catalog.jobs import PRELOAD
from shadowzarr.testing import Archive, ArchiveServer

KILLS = int(os.environ.get("KILLED_FLOWS", "10"))


@pytest.fixture
def archive(write_file, tmp_path):
    contents = Archive()
    contents.add_dandiset(DANDISET)
    for number in range(3):
        contents.add_asset(
            DANDISET, f"{number}.nwb", write_file(tmp_path / "files" / f"{number}", seed=number)
        )
    with ArchiveServer(contents) as server:
        yield server


@skip_without_fork()
@pytest.mark.parametrize("how", ["moments", "steps"])
@pytest.mark.timeout(600 + 40 * KILLS)
def test_killed_and_run_again(prefect_server, archive, write_file, tmp_path, monkeypatch, how):
    """The run after it, and one without kills, give the same."""
    monkeypatch.setenv("PREFECT_API_URL", prefect_server)
    output, undisturbed, config = tmp_path / "killed", tmp_path / "undisturbed", tmp_path / "config.yaml"
    config.write_text(
        f"flow: index_dandisets\narchive: {archive.api_url}\ndandisets:\n  - id: '{DANDISET}'\n"
        f"output: {output}\nrun: {{concurrency: 1, timeout: 60}}\n"
        "references: {url: blob, chunk_index_threshold: 1}\n"
    )
    changing = ChangingArchive(archive.archive, write_file, tmp_path / "files")

    def run(place: Path) -> None:
        assert index_without_prefect(index_request(archive.api_url, place), pool=pool).exit_code == 0

    killed = 0
    with (
        ChildPool(1, timeout=60, preload=PRELOAD) as pool,
        Nursery("flow_to_kill:run_config") as nursery,
        Meanwhile("work_to_kill:look_at_output", str(output)) as reader,
    ):
        kills = nursery.kills(how, KILLS, str(config))
        run(undisturbed)
        assert tree(output) == tree(undisturbed)
        for kill in kills:
            changing.change()
            killed += nursery.run(str(config), **kill)[0] != 0
            look_at_output(str(output))
            run(output)
            run(undisturbed)
            left = tree(output)
            left.pop(f".shadowzarr/{MARK}", None)  # which only a flow takes away that could tell of failures
            assert left == tree(undisturbed)
        changing.change()
        nursery.run(str(config))
        run(undisturbed)
        assert tree(output) == tree(undisturbed)
    print(f"{killed} of {len(kills)} killed; {reader.counts}")
    assert killed >= len(kills) // 2
    assert reader.counts["sets"] > 0
