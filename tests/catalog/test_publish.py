"""Publishing, and every place where it can be interrupted."""

import contextlib
import itertools
import shutil
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from records_by_hand import record_of

from shadowzarr.builder import RfsBuilder
from shadowzarr.catalog import publish
from shadowzarr.catalog.layout import OutputLayout
from shadowzarr.catalog.options import ReferenceOptions
from shadowzarr.catalog.plan import record_key
from shadowzarr.catalog.records import IndexRecord
from shadowzarr.errors import OutputError
from shadowzarr.store.load_rfs import load_rfs
from shadowzarr.write import write_rfs


def references(seed: int):
    builder = RfsBuilder()
    url = "https://x/assets/1/download/"
    builder.add_source(url, 10**6)
    for name in ("a", "b") if seed else ("a",):
        index = np.arange(8, dtype="uint64").reshape(4, 2) + seed
        builder.add_array(name, shape=(4,), data_type="int8", chunk_shape=(1,))
        builder.add_index(name, url, index)
    return builder.build()


def keyed_record(asset, layout, outcome="indexed") -> IndexRecord:
    key = record_key(asset, layout.options)
    return record_of(
        asset, options_digest=key.options_digest, format_version=key.format_version, outcome=outcome
    )


def put(layout, asset, seed: int) -> None:
    write_rfs(references(seed), layout.staged_references(asset))
    publish.publish_references(layout, asset)
    publish.finish_asset(layout, asset, keyed_record(asset, layout))


def tree(folder: Path) -> dict[str, bytes]:
    return {
        str(p.relative_to(folder)): p.read_bytes() if p.is_file() else b"" for p in sorted(folder.rglob("*"))
    }


def test_references_and_record_appear_and_staging_goes(layout, asset):
    write_rfs(references(1), layout.staged_references(asset))
    final, nbytes, files = publish.publish_references(layout, asset)
    assert final == layout.references_path(asset)
    assert files == sum(path.is_file() for path in final.rglob("*"))
    assert nbytes == sum(path.stat().st_size for path in final.rglob("*") if path.is_file())
    publish.finish_asset(layout, asset, keyed_record(asset, layout))
    assert not layout.staging_folder(asset).exists()
    assert len(publish.records_beside(layout, layout.place(asset))) == 1
    assert set(load_rfs(final)["indexes"]) == {"a", "b"}


def test_replacing_leaves_what_a_first_time_would(layout, asset, tmp_path):
    other = OutputLayout(tmp_path / "other", ReferenceOptions())
    changed = replace(asset, etag="0" * 32 + "-1")
    put(other, changed, 1)
    put(layout, asset, 0)
    put(layout, changed, 1)
    assert tree(layout.folder / "dandisets") == tree(other.folder / "dandisets")


def test_another_form_replaces_the_first(layout, asset):
    put(layout, asset, 0)
    as_json = OutputLayout(layout.folder, ReferenceOptions(form="json"))
    put(as_json, asset, 0)
    assert not layout.references_path(asset).exists()
    assert as_json.references_path(asset).is_file()
    assert [path.name for path in publish.records_beside(layout, layout.place(asset))] == [
        as_json.record_path(asset, record_key(asset, as_json.options), "indexed").name
    ]


def test_a_failure_leaves_earlier_references_and_their_record(layout, asset):
    put(layout, asset, 0)
    before = tree(layout.folder / "dandisets")
    changed = replace(asset, etag="0" * 32 + "-1")
    write_rfs(references(1), layout.staged_references(changed))
    publish.finish_failed(layout, changed, keyed_record(changed, layout, "failed"))
    after = tree(layout.folder / "dandisets")
    assert {name: after[name] for name in before} == before
    assert [name for name in after if name not in before and ".failed." in name] == list(
        after.keys() - before.keys()
    )
    put(layout, changed, 1)
    assert not any(".failed." in name or asset.etag in name for name in tree(layout.folder / "dandisets"))


def test_one_failed_record_at_most(layout, asset):
    for etag in ("0" * 32 + "-1", "1" * 32 + "-1"):
        changed = replace(asset, etag=etag)
        publish.finish_failed(layout, changed, keyed_record(changed, layout, "failed"))
    assert len(publish.records_beside(layout, layout.place(asset))) == 1


def test_records_of_names_that_begin_alike_are_kept_apart(layout, asset):
    other = replace(asset, path="sub-1/a.nwb.b.nwb")
    for each in (asset, other):
        put(layout, each, 0)
    put(layout, replace(asset, etag="0" * 32 + "-1"), 0)
    assert len(publish.records_beside(layout, layout.place(asset))) == 1
    assert len(publish.records_beside(layout, layout.place(other))) == 1


class Killed(BaseException):
    pass


STEPS = [
    (Path, "write_bytes"),
    (Path, "unlink"),
    (Path, "rename"),
    (Path, "replace"),
    (Path, "rmdir"),
    (shutil, "rmtree"),
]


@pytest.mark.parametrize("is_after", [False, True])
def test_interrupted_at_any_step_and_done_again_gives_the_same_tree(asset, tmp_path, monkeypatch, is_after):
    changed = replace(asset, etag="0" * 32 + "-1")
    undisturbed = OutputLayout(tmp_path / "undisturbed", ReferenceOptions())
    put(undisturbed, asset, 0)
    put(undisturbed, changed, 1)
    for moment in itertools.count(1):
        layout = OutputLayout(tmp_path / str(moment), ReferenceOptions())
        put(layout, asset, 0)
        with monkeypatch.context() as patch:
            steps = interruptions(patch, moment, is_after=is_after)
            with contextlib.suppress(Killed):
                put(layout, changed, 1)
                break
        check_interrupted(layout, asset, changed)
        assert tree(layout.folder / "dandisets") == tree(undisturbed.folder / "dandisets"), moment
    assert steps() == moment - 1 > 10


def check_interrupted(layout, asset, changed) -> None:
    """What a reader and a planner see after an interruption is true; the next run then goes over it."""
    listing = layout.list_version("000001", "draft")
    keys = {record.key for record in listing.done(layout.place(asset), layout.references_path(asset))}
    arrays = set(load_rfs(layout.references_path(asset))["indexes"])
    assert arrays in ({"a"}, {"a", "b"}), "a reader sees old or new"
    assert record_key(asset, layout.options) not in keys or arrays == {"a"}
    assert record_key(changed, layout.options) not in keys or arrays == {"a", "b"}
    publish.clear_staging(layout)
    assert not layout.staging.exists()
    if record_key(changed, layout.options) not in keys:
        put(layout, changed, 1)


def interruptions(patch, moment: int, *, is_after: bool):
    """Stop the process, as it were, before or after the n-th change of the disk."""
    count = 0

    def interrupting(function):
        def step(*arguments, **options):
            nonlocal count
            count += 1
            if count == moment and not is_after:
                raise Killed
            result = function(*arguments, **options)
            if count == moment:
                raise Killed
            return result

        return step

    for owner, name in STEPS:
        patch.setattr(owner, name, interrupting(getattr(owner, name)))
    return lambda: count


def test_an_output_that_cannot_be_written(layout, asset):
    write_rfs(references(0), layout.staged_references(asset))
    (layout.folder / "dandisets").write_text("a file in the way")
    with pytest.raises(OutputError, match=r"cannot list .*Not a directory"):
        publish.publish_references(layout, asset)


def test_a_note_that_cannot_be_read_is_told(layout, asset):
    folder = layout.staging_folder(asset)
    folder.mkdir(parents=True)
    (folder / publish.NOTE).write_text("{")
    with pytest.raises(OutputError, match="remove it by hand"):
        publish.clear_staging(layout)
