"""Indexing runs over one output that are killed, or two at once, while a reader looks on."""

import os

import pytest
from archive_trees import tree
from changing_archive import ChangingArchive
from other_processes import Meanwhile, Nursery, all_at_once, skip_without_fork
from work_to_kill import index_request, look_at_output

from shadowzarr.catalog.index_run import index_dandisets

KILLS = int(os.environ.get("KILLED_RUNS", "8"))


@pytest.fixture
def changing(archive, tmp_path, write_file):
    return ChangingArchive(archive.archive, write_file, tmp_path / "files")


@skip_without_fork()
@pytest.mark.parametrize("how", ["moments", "steps"])
@pytest.mark.timeout(600 + 10 * KILLS)
def test_killed_and_run_again(archive, changing, pool, tmp_path, how):
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
        kills = nursery.kills(how, KILLS, archive.api_url, str(killed_output))
        run(undisturbed)
        for kill in kills:
            changing.change()
            killed += nursery.run(archive.api_url, str(killed_output), **kill)[0] != 0
            look_at_output(str(killed_output))
            run(killed_output)
            run(undisturbed)
            assert tree(killed_output) == tree(undisturbed)
    print(f"{killed} of {len(kills)} killed; {reader.counts}")
    assert killed >= KILLS // 2
    assert reader.counts["sets"] > 0
    assert reader.counts["records"] > 0


@pytest.mark.timeout(300)
def test_two_runs_at_once(archive, changing, pool, tmp_path):
    """One is refused while the other writes, and then finds everything done; no record is lost."""
    output, undisturbed = tmp_path / "two", tmp_path / "undisturbed"
    for place in (output, undisturbed):
        index_dandisets(index_request(archive.api_url, place), pool=pool)
    changing.change()
    with Meanwhile("work_to_kill:look_at_output", str(output)) as reader:
        all_at_once("work_to_kill:index_in_turn", *[(archive.api_url, str(output))] * 2)
    index_dandisets(index_request(archive.api_url, undisturbed), pool=pool)
    assert tree(output) == tree(undisturbed)
    assert reader.counts["sets"] > 0
