"""Indexing runs onto a disk that gets full: what fails says so, nothing is half made, the next goes on."""

import subprocess
from pathlib import Path

from archive_trees import tree
from small_disk import remount, small_disk
from work_to_kill import index_request, look_at_output

from shadowzarr.catalog.index_run import index_dandisets

PAGE = 4096
ROOMY = 2**24


def used(disk: Path) -> int:
    return int(subprocess.check_output(["df", "--output=used", "--block-size=1", disk]).split()[-1])


def test_a_run_onto_a_full_disk_and_after_room_was_made(archive, pool, tmp_path):
    """At whatever the disk gets full; with room, the next run gives what there should be."""
    with small_disk(tmp_path / "roomy", ROOMY) as disk:
        index_dandisets(index_request(archive.api_url, disk / "out"), pool=pool)
        wanted, most = tree(disk / "out"), used(disk)
    failures = []
    for size in range(PAGE, most + 8 * PAGE, max(PAGE, most // 12)):
        with small_disk(tmp_path / f"{size}", size) as disk:
            request = index_request(archive.api_url, disk / "out")
            summary = index_dandisets(request, pool=pool)
            for failed in summary.failures:
                assert "No space left on device" in failed.error.message
            failures.append(len(summary.failures))
            look_at_output(str(disk / "out"))
            remount(disk, f"size={ROOMY}")
            assert index_dandisets(request, pool=pool).exit_code == 0
            assert tree(disk / "out") == wanted
    print(f"failures on disks of growing size: {failures}")
    assert failures[0] == len(archive.archive.assets("000001", "draft"))
    assert failures[-1] == 0
    assert sum(number > 0 for number in failures) > 3
