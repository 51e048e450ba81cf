"""A cache whose writers are killed at random moments, while a reader looks on."""

import os

from other_processes import Meanwhile, Nursery, moments, skip_without_fork
from work_to_kill import look_at_cache

from shadowzarr import LocalCache

KILLS = int(os.environ.get("KILLED_CACHES", "20"))


@skip_without_fork()
def test_killed_at_random_moments(tmp_path):
    """What is kept is right, and what it says of itself is what it holds."""
    folder = str(tmp_path / "cache")
    with Nursery("work_to_kill:fill_cache") as nursery:
        _, seconds, _ = nursery.run(folder, "first")
        killed = 0
        with Meanwhile("work_to_kill:look_at_cache", folder) as reader:
            for number, part in enumerate(moments(KILLS, "cache")):
                killed += nursery.run(folder, str(number), kill_after=part * seconds)[0] != 0
                look_at_cache(folder)
                assert LocalCache(folder).info().nbytes <= 3000
            nursery.run(folder, "last")
    print(f"{killed} of {KILLS} killed; {reader.counts}")
    assert killed >= KILLS // 2
    assert reader.counts["found"] > 0
