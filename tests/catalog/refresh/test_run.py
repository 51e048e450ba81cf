"""What refreshing does beside the usual: things that are missing, private, wrong, locked, killed, or old."""

import json
import os
import pickle
import shutil
import signal
import subprocess
import sys
from dataclasses import replace

import pytest
import zarr
from following_archive import DANDISET, assert_same_values, expected_nodes, nodes_of, state_of

from shadowzarr import RfsBuilder
from shadowzarr.catalog.jobs import VerificationOptions
from shadowzarr.catalog.lock import output_lock
from shadowzarr.catalog.options import ReferenceOptions
from shadowzarr.catalog.plan import SelectionRules
from shadowzarr.catalog.refresh.run import plan_one, refresh_icechunk
from shadowzarr.catalog.refresh.state import wanted_dandisets
from shadowzarr.catalog.request import DandisetRequest
from shadowzarr.errors import OutputBusyError, UsageError
from shadowzarr.icechunk import open_repository, rfs_to_icechunk
from shadowzarr.icechunk.asset_groups import held_assets

KILLED = """
import os, pickle, signal, sys
import icechunk
from shadowzarr.catalog.refresh import run
icechunk.set_logs_filter("error")
request = pickle.loads(bytes.fromhex(sys.argv[1]))

def die(*args, **options):
    print("dies", flush=True)
    os.kill(os.getpid(), signal.SIGKILL)

icechunk.Session.commit = die  # all is written, nothing is committed
run.refresh_icechunk(request)
"""


def test_a_killed_refresh_leaves_the_repository_as_it_was(following):
    following.add("a.nwb"), following.add("b.nwb")
    following.index()
    following.refresh()
    before = following.history()[0].id, state_of(following.session())
    following.archive.remove_asset(DANDISET, "a.nwb")
    following.add("c.nwb"), following.add("d.nwb")
    following.index()
    command = [sys.executable, "-c", KILLED, pickle.dumps(following.request).hex()]
    killed = subprocess.run(command, capture_output=True, text=True, timeout=300, env=os.environ, check=False)
    assert (killed.returncode, killed.stdout) == (-signal.SIGKILL, "dies\n"), killed.stderr
    assert (following.history()[0].id, state_of(following.session())) == before
    report = following.refresh()
    assert report.change.counts == {"added": 2, "removed": 1}
    assert nodes_of(following.session()) == expected_nodes(following.assets())
    assert len(following.history()) == 3


def test_what_is_not_indexed_or_not_verified_is_left_out_by_name(following):
    following.add("a.nwb")
    following.index(verification=VerificationOptions("none"))
    following.add("b.nwb")
    report = following.refresh()
    assert [(each.path, each.reason.split(";")[0]) for each in report.missing] == [
        ("b.nwb", "it has no references in the output"),
        ("a.nwb", "its references were never verified"),
    ]
    assert report.is_left_out
    assert report.snapshot is None
    shutil.rmtree(following.output / "dandisets")
    following.index()
    report = following.refresh()
    assert (report.missing, report.assets) == ([], 2)


def test_an_asset_that_failed_takes_its_old_state_away_and_costs_no_other(following):
    good, bad = following.add("good.nwb"), following.add("bad.nwb")
    following.index()
    following.refresh()
    broken = following.folder / "broken.h5"
    broken.write_bytes(following.file().read_bytes()[:1500])
    following.archive.replace_asset(DANDISET, bad.path, broken)
    following.index()
    name = following.archive.publish(DANDISET)
    report = following.refresh()
    (missing,) = report.missing
    assert missing.path == "bad.nwb"
    assert missing.is_final
    assert missing.reason.startswith("it could not be indexed: ")
    assert set(held_assets(following.session())) == {good.path}
    assert [(tag.version, tag.reason) for tag in report.tags] == [(name, "")]  # it will never be there
    assert following.history()[0].metadata["missing"] == 1


def test_other_options_and_force_write_again_and_lost_references_take_nothing_away(following):
    following.add("a.nwb")
    following.index()
    following.refresh()
    assert following.refresh().snapshot is None
    following.index(options=ReferenceOptions(chunk_index_threshold=None))
    report = following.refresh()
    assert report.change.counts == {"other references": 1}
    report = following.refresh(force=True)
    assert report.change.counts == {"forced": 1}
    (record,) = (following.output / "dandisets").rglob("*.record.json")
    content = json.loads(record.read_text())
    record.write_text(json.dumps(content | {"verification": None}))
    report = following.refresh(force=True)
    assert [each.path for each in report.missing] == ["a.nwb"]
    assert report.snapshot is None  # what is held is of the right bytes
    shutil.rmtree(following.output / "dandisets" / DANDISET / "draft")
    report = following.refresh()
    assert (report.snapshot, report.missing, report.assets) == (None, [], 1)
    assert nodes_of(following.session()) == expected_nodes(following.assets())


def test_nothing_of_embargoed_assets(following):
    following.add("open.nwb")
    following.index()
    following.refresh()
    owner = following.archive.add_user("owner", key="b" * 40)
    following.archive.dandiset(DANDISET).owners.add(owner.name)
    following.archive.set_embargo(DANDISET, "EMBARGOED")
    report = following.refresh()
    assert "key" in report.error  # nobody tells; the repository stays
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SHADOWZARR_OWNER", owner.key)
        address = replace(following.address, api_key_env="SHADOWZARR_OWNER")
        report = following.refresh(archive=address)
    assert (report.error, report.embargoed, report.assets) == ("", 1, 0)
    assert report.change.gone == ["open.nwb"]
    assert nodes_of(following.session()) == {""}


def test_an_archive_that_lists_nothing_empties_no_repository(following):
    following.add("a.nwb")
    following.index()
    following.refresh()
    following.archive.remove_asset(DANDISET, "a.nwb")
    report = following.refresh()
    assert "lists no asset of dandiset 000001 (draft), and its repository holds 1" in report.error
    assert set(held_assets(following.session())) == {"a.nwb"}


def test_groups_of_others_stay_and_changed_ones_are_made_right(following):
    following.add("sub/a.nwb"), following.add("b.nwb")
    following.index()
    following.refresh()
    session = following.repository().writable_session("main")
    root = zarr.open_group(session.store, mode="a")
    root.create_group("sub/theirs")
    rfs_to_icechunk(RfsBuilder().build(), session, group="b.nwb", replace=True)
    session.commit("by hand")
    report = following.refresh()
    assert report.change.counts == {"added": 1}
    following.archive.rename_asset(DANDISET, "sub/a.nwb", "a.nwb")
    following.index()
    following.refresh()
    assert nodes_of(following.session()) == expected_nodes(following.assets()) | {"sub", "sub/theirs"}
    for path, file in following.assets().items():
        assert_same_values(following.root(), path, file)


def test_awkward_names(following):
    names = ["zarr.json/a b#?.nwb", "__a__/b%5F.nwb", "ü/é.nwb", "x.nwb", "x.nwb/inside.nwb"]
    for name in names:
        following.add(name)
    following.index()
    report = following.refresh()
    assert [(each.path, each.reason) for each in report.missing] == [
        ("x.nwb/inside.nwb", "the asset x.nwb is above it")
    ]
    assert set(held_assets(following.session())) == {
        "%7Aarr.json/a b#?.nwb",
        "%5F_a__/b%255F.nwb",
        "ü/é.nwb",
        "x.nwb",
    }
    root = following.root()
    assert root["%7Aarr.json/a b#?.nwb/counts"][0] == 1000
    for name in names[:2]:
        following.archive.remove_asset(DANDISET, name)
    following.refresh()
    assert sorted(root for root in nodes_of(following.session()) if "/" not in root) == ["", "x.nwb", "ü"]


def test_a_version_waits_until_it_is_indexed(following):
    """A version of bytes that the draft had between two nights."""
    following.add("a.nwb")
    following.index()
    following.refresh()
    following.archive.replace_asset(DANDISET, "a.nwb", following.file())
    name = following.archive.publish(DANDISET)
    following.archive.replace_asset(DANDISET, "a.nwb", following.file())
    following.index()
    planned = plan_one(following.request, DandisetRequest(DANDISET))
    report = following.refresh()
    for tags in (planned.tags, report.tags):
        ((version, reason),) = [(tag.version, tag.reason) for tag in tags]
        assert version == name
        assert reason.startswith("1 asset of it cannot be written, the first a.nwb: it has no references")
    assert following.repository().list_tags() == set()
    following.index(dandisets=(DandisetRequest(DANDISET, name),))
    assert [tag.reason for tag in following.refresh().tags] == [""]
    assert_same_values(following.root(tag=name), "a.nwb", following.assets(name)["a.nwb"])
    assert len(following.history()) == 3
    assert following.refresh(versions="none").tags == []


def test_old_snapshots_expire_and_tags_stay(following):
    following.add("a.nwb")
    following.index()
    following.refresh()
    following.archive.publish(DANDISET)
    for name in "bcd":
        following.add(f"{name}.nwb")
        following.index()
        following.refresh()
    assert len(following.history()) == 5
    wanted = DandisetRequest(DANDISET)
    assert plan_one(replace(following.request, keep_days=0.0), wanted).expired == 2
    assert following.refresh(keep_days=None).expired == 0
    report = following.refresh(keep_days=0.0, grace_days=0.0)
    assert report.expired == 2
    assert report.deleted_bytes > 0
    (tag,) = following.repository().list_tags()
    assert set(held_assets(following.session(tag=tag))) == {"a.nwb"}
    assert_same_values(following.root(tag=tag), "a.nwb", following.assets(tag)["a.nwb"])
    assert nodes_of(following.session()) == expected_nodes(following.assets())


def test_a_plan_says_the_same_and_writes_nothing(following):
    following.add("a.nwb"), following.add("b.nwb")
    following.index()
    wanted = DandisetRequest(DANDISET)
    assert plan_one(following.request, wanted).change.counts == {"added": 2}
    assert not following.place.exists()
    following.refresh()
    following.archive.rename_asset(DANDISET, "a.nwb", "c.nwb")
    name = following.archive.publish(DANDISET)
    following.index()
    before = following.history()
    planned = plan_one(following.request, wanted)
    assert planned.change.counts == {"renamed": 1}
    assert [(tag.version, tag.reason) for tag in planned.tags] == [(name, "")]
    assert [each.id for each in following.history()] == [each.id for each in before]
    assert following.refresh().change.counts == planned.change.counts


def test_dandisets_are_those_of_the_output(following, tmp_path):
    following.add("a.nwb")
    following.index()
    assert wanted_dandisets(following.request) == (DandisetRequest(DANDISET),)
    empty = replace(following.request.public, folder=tmp_path / "nothing")
    with pytest.raises(UsageError, match="does not exist"):
        wanted_dandisets(replace(following.request, public=empty))
    (tmp_path / "nothing").mkdir()
    with pytest.raises(UsageError, match="holds no dandiset"):
        wanted_dandisets(replace(following.request, public=empty))


def test_places_that_are_held_or_hold_something_else(following):
    following.add("a.nwb")
    following.index()
    for lock in (following.request.public.lock, following.place.parent / ".shadowzarr" / "lock"):
        with output_lock(lock), pytest.raises(OutputBusyError, match="another run .* is writing to"):
            following.refresh()
    following.place.mkdir(parents=True)
    (following.place / "notes.txt").write_text("mine")
    assert "holds other files and no Icechunk repository" in following.refresh().error
    (following.place / "notes.txt").unlink()
    left = following.place.parent / ".shadowzarr" / "new-of-a-run-that-was-killed"
    left.mkdir(parents=True)
    assert following.refresh().error == ""
    assert not left.exists()
    (following.place / "repo").rename(following.place / "moved")
    (following.place / "repo").write_bytes(b"junk")
    assert "invalid icechunk header size, got 4 bytes" in following.refresh().error
    (following.place / "moved").rename(following.place / "repo")


def test_one_that_fails_costs_no_other(following):
    for name in ("a.nwb", "b.nwb", "c.h5"):
        following.add(name)
    following.index()
    mine = DandisetRequest(DANDISET, rules=SelectionRules(exclude=("b*",)))
    summary = refresh_icechunk(replace(following.request, dandisets=(DandisetRequest("000009"), mine)))
    assert [bool(each.error) for each in summary.repositories] == [True, False]
    assert "000009" in summary.repositories[0].error
    assert summary.exit_code == 1
    assert set(held_assets(following.session())) == {"a.nwb"}
    shutil.copytree(following.place, following.place.with_name("000002"))
    following.archive.add_dandiset("000002")
    report = following.refresh(dandisets=(DandisetRequest("000002"),))
    assert "is the repository of dandiset 000001" in report.error


def test_somebody_else_commits_meanwhile(following, monkeypatch):
    from shadowzarr.catalog.refresh import apply

    following.add("a.nwb")
    following.index()
    following.refresh()
    following.add("b.nwb")
    following.index()
    write, seen = apply.write_plan, []

    def slow(plan, session, **options):
        if not seen:
            other = open_repository(following.place, create=False).writable_session("main")
            rfs_to_icechunk(RfsBuilder().build(), other, group="theirs")
            other.commit("theirs")
        seen.append(options["group"])
        return write(plan, session, **options)

    monkeypatch.setattr(apply, "write_plan", slow)
    report = following.refresh()
    assert seen == ["b.nwb", "b.nwb"]
    assert report.change.counts == {"added": 1}
    assert nodes_of(following.session()) == expected_nodes(following.assets()) | {"theirs"}


def test_a_place_in_a_bucket(following, object_store):
    object_store.create_bucket(Bucket="repositories")
    following.add("a.nwb")
    following.index()
    request = {"place": "s3://repositories/public/"}
    assert following.refresh(**request).change.counts == {"added": 1}
    assert following.refresh(**request).snapshot is None
    repo = open_repository(f"s3://repositories/public/{DANDISET}", [following.server.store_url], create=False)
    root = zarr.open_group(repo.readonly_session("main").store, mode="r")
    assert_same_values(root, "a.nwb", following.assets()["a.nwb"])
