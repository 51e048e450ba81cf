"""Refreshes killed at random moments, one after the other, while a reader looks on."""

import os
import pickle

from following_archive import DANDISET, state_of
from other_processes import Meanwhile, Nursery, moments, skip_without_fork

KILLS = int(os.environ.get("KILLED_REFRESHES", "6"))


@skip_without_fork()
def test_killed_at_random_moments_and_refreshed_again(following):
    """The repository holds then what the archive holds, and every state between was whole."""
    for name in ("a.nwb", "b.nwb"):
        following.add(name)
    following.index()
    following.refresh()
    request, killed = pickle.dumps(following.request).hex(), 0
    place, store_url = str(following.place), following.server.store_url
    with (
        Nursery("work_to_kill:refresh") as nursery,
        Meanwhile("work_to_kill:look_at_repository", place, store_url) as reader,
    ):
        seconds = None
        for number, part in enumerate(moments(KILLS + 1, "refresh")):
            following.archive.replace_asset(DANDISET, "a.nwb", following.file())
            following.add(f"{number}.nwb")
            if number % 2:
                following.archive.remove_asset(DANDISET, f"{number - 1}.nwb")
            following.index()
            before = state_of(following.session())
            code, took, _ = nursery.run(request, kill_after=None if seconds is None else part * seconds)
            seconds = took if seconds is None else seconds
            killed += code != 0
            is_as_before = state_of(following.session()) == before
            report = following.refresh()
            held = {path for path, _ in state_of(following.session())[0]}
            assert held == {asset.path for asset in following.archive.assets(DANDISET, "draft")}
            assert bool(report.snapshot) == is_as_before
    print(f"{killed} of {KILLS} killed; {reader.counts}")
    assert killed >= KILLS // 2
    assert reader.counts["assets"] > 0
