"""Indexing runs killed at random moments, one after the other over one output, while a reader looks on."""

import os

import pytest
from archive_trees import tree
from changing_archive import ChangingArchive
from other_processes import Meanwhile, Nursery, moments, skip_without_fork
from work_to_kill import index_request, look_at_output

from shadowzarr.catalog.index_run import index_dandisets

KILLS = int(os.environ.get("KILLED_RUNS", "12"))


@pytest.fixture
def changing(archive, tmp_path, write_file):
    return ChangingArchive(archive.archive, write_file, tmp_path / "files")


@skip_without_fork()
@pytest.mark.timeout(600 + 10 * KILLS)
def test_killed_at_random_moments_and_run_again(archive, changing, pool, tmp_path):
    """After each comes one that is not killed; then the output is that of runs without kills."""
    killed_output, undisturbed = tmp_path / "killed", tmp_path / "undisturbed"

    def run(output):
        assert index_dandisets(index_request(archive.api_url, output), pool=pool).exit_code == 0

    for output in (killed_output, undisturbed):
        run(output)
    killed = 0
    with (
        Nursery("work_to_kill:index") as nursery,
        Meanwhile("work_to_kill:look_at_output", str(killed_output)) as reader,
    ):
        changing.change()
        _, seconds = nursery.run(archive.api_url, str(killed_output))
        run(undisturbed)
        for part in moments(KILLS, "index"):
            changing.change()
            code, _ = nursery.run(archive.api_url, str(killed_output), kill_after=part * seconds)
            killed += code != 0
            look_at_output(str(killed_output))
            run(killed_output)
            run(undisturbed)
            assert tree(killed_output) == tree(undisturbed)
    print(f"{killed} of {KILLS} killed; {reader.counts}")
    assert killed >= KILLS // 2
    assert reader.counts["sets"] > 0
    assert reader.counts["records"] > 0
