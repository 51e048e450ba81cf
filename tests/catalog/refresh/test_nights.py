"""Twenty nights of an archive that changes, followed by a repository; with somebody reading all the time."""

import contextlib
import threading

from following_archive import (
    DANDISET,
    assert_same_values,
    expected_nodes,
    nodes_of,
    state_of,
)

from shadowzarr.icechunk import open_repository
from shadowzarr.icechunk.asset_groups import held_assets

NIGHTS = (
    "add add add add",
    "add",
    "rename",
    "upload",
    "remove",
    "",
    "publish",
    "add edit",
    "rename upload",
    "publish add",  # the version is what the night before left
    "swap",
    "remove add rename",
    "",
    "add publish upload",  # a version that no night left
    "upload rename-uploaded",
    "edit",
    "remove publish",
    "add add rename",
    "upload publish",
    "remove remove",
)
"""What happens before each night."""


class Days:
    """What people do to a draft."""

    def __init__(self, following) -> None:
        self.following, self.archive = following, following.archive
        self.number = 0
        self.published = {}

    def do(self, name: str) -> None:
        getattr(self, name.replace("-", "_"))()

    def _some(self) -> str:
        return self.following.random.choice(sorted(self.following.assets()))

    def _name(self) -> str:
        self.number += 1
        return f"sub-{self.number % 3}/ses {self.number}%/{self.number}.nwb"

    def add(self) -> None:
        self.following.add(self._name())

    def rename(self) -> None:
        self.archive.rename_asset(DANDISET, self._some(), self._name())

    def upload(self) -> None:
        self.archive.replace_asset(DANDISET, self._some(), self.following.file())

    def rename_uploaded(self) -> None:
        self.archive.replace_asset(DANDISET, self._some(), self.following.file(), new_path=self._name())

    def edit(self) -> None:
        self.archive.replace_asset(DANDISET, self._some(), metadata={"note": str(self.number)})

    def swap(self) -> None:
        """Two assets take each other's path."""
        first, second = sorted(self.following.assets())[:2]
        self.archive.rename_asset(DANDISET, first, "aside.nwb")
        self.archive.rename_asset(DANDISET, second, first)
        self.archive.rename_asset(DANDISET, "aside.nwb", second)

    def remove(self) -> None:
        self.archive.remove_asset(DANDISET, self._some())

    def publish(self) -> None:
        name = self.archive.publish(DANDISET)
        self.published[name] = self.following.assets(name)


class Reader(threading.Thread):
    """Opens the repository again and again and notes what it holds: assets, and chunks of each file."""

    def __init__(self, place) -> None:
        super().__init__(daemon=True)
        self.place, self.seen, self.errors = place, [], []
        self._ended = threading.Event()

    def run(self) -> None:
        while not self._ended.wait(0.1):
            try:
                session = open_repository(self.place, create=False).readonly_session("main")
                self.seen.append(state_of(session))
            except BaseException as error:
                self.errors.append(error)

    @contextlib.contextmanager
    def reading(self):
        self.start()
        yield self
        self._ended.set()
        self.join()


def test_twenty_nights(following):
    days = Days(following)
    reader = None
    states, changed_nights, versions = [], 0, {}
    with contextlib.ExitStack() as stack:
        for number, night in enumerate(NIGHTS):
            before = following.assets()
            for name in night.split():
                days.do(name)
            following.index()
            report = following.refresh()
            now = following.assets()
            assert (report.error, report.missing) == ("", []), (number, night)
            root = following.root()
            assert nodes_of(following.session()) == expected_nodes(now), (number, night)
            fresh = {path: file for path, file in now.items() if before.get(path) != file}
            for path, file in fresh.items():
                assert_same_values(root, path, file)
            is_changed = set(night.split()) - {"publish"} != set()
            assert (report.snapshot is not None) == is_changed, (number, night)
            changed_nights += is_changed
            assert len(following.history()) == 1 + changed_nights, (number, night)
            states.append(state_of(following.session()))
            versions |= {tag.version: tag for tag in report.tags}
            if reader is None:
                reader = stack.enter_context(Reader(following.place).reading())
    for path, file in following.assets().items():
        assert_same_values(following.root(), path, file)
    assert reader.errors == []
    assert len(reader.seen) > 5
    assert set(reader.seen) <= set(states)
    repo = following.repository()
    assert repo.list_tags() == set(days.published) == set(versions)
    for name, assets in days.published.items():
        root = following.root(tag=name)
        assert nodes_of(following.session(tag=name)) == expected_nodes(assets)
        for path, file in assets.items():
            assert_same_values(root, path, file)
    assert [tag.is_of_branch for tag in versions.values()] == [True, True, False, True, True]


def test_history_tells_what_was_done(following):
    first, second = following.add("a.nwb"), following.add("sub/b.nwb")
    following.index()
    report = following.refresh()
    newest = following.history()[0]
    assert newest.id == report.snapshot
    assert newest.message == "dandiset 000001 (draft) of the archive: 2 added"
    assert newest.metadata["archive"] == following.server.api_url
    assert (newest.metadata["dandiset"], newest.metadata["version"]) == (DANDISET, "draft")
    assert (newest.metadata["assets"], newest.metadata["changes"]) == (2, {"added": 2})
    assert newest.metadata["libraries"]["shadowzarr"]
    held = held_assets(following.session())
    assert {group: (each.asset_id, each.etag) for group, each in held.items()} == {
        asset.path: (asset.asset_id, following.archive.blob(asset.blob_id).etag) for asset in (first, second)
    }
    assert following.root().attrs["dandi"] == {"archive": following.server.api_url, "dandiset": DANDISET}
    following.archive.rename_asset(DANDISET, "a.nwb", "sub/c.nwb")
    following.archive.remove_asset(DANDISET, "sub/b.nwb")
    following.index()
    report = following.refresh()
    assert following.history()[0].message.endswith(": 1 renamed, 1 removed")
    assert report.change.writes[0].renamed_from == "a.nwb"
