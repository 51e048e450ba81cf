"""Groups that name the asset they hold."""

import zarr

from shadowzarr import RfsBuilder
from shadowzarr.icechunk import commit_changes, open_repository
from shadowzarr.icechunk.asset_groups import HeldAsset, dandiset_of, held_assets, set_dandiset, with_asset
from shadowzarr.icechunk.plan import make_plan
from shadowzarr.icechunk.to_icechunk import write_plan
from shadowzarr.refs.extension import kept_parts

ASSET = HeldAsset("a.nwb", "0b34d3dd-037a-4dcb-9d8f-1073895048e1", "e-1", "s3://b/k", "0" * 12, 1)


def write(session):
    plan = with_asset(make_plan(RfsBuilder().build(), url_for=None, copy_selections=False), ASSET)
    write_plan(plan, session, group="a.nwb")
    set_dandiset(session, {"dandiset": "000001"})


def test_the_name_stays_when_zarr_python_changes_attributes(tmp_path):
    """And is none of the attributes, nor of what references keep."""
    repo = open_repository(tmp_path / "repo")
    commit_changes(repo, "x", write)
    session = repo.writable_session("main")
    group = zarr.open_group(session.store, path="a.nwb", mode="r+")
    assert dict(group.attrs) == {}
    group.attrs["more"] = 1
    group.update_attributes({"most": 2})
    session.commit("by hand")
    session = repo.readonly_session("main")
    assert held_assets(session) == {"a.nwb": ASSET}
    assert dandiset_of(session) == {"dandiset": "000001"}
    assert kept_parts({"shadowzarr": {"asset": {}}}) == {}


def test_a_group_that_names_no_asset_is_looked_into(tmp_path):
    repo = open_repository(tmp_path / "repo")
    commit_changes(repo, "x", write)
    session = repo.writable_session("main")
    zarr.create_group(session.store, path="others/b.nwb", attributes={"asset": "b"})
    zarr.create_group(session.store, path="a.nwb", overwrite=True)
    assert held_assets(session) == {}
