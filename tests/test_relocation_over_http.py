"""Files that were moved behind a server or into a bucket: what is there is compared first."""

import json
import re

import h5py
import numpy as np
import pytest

from shadowzarr import generate_rfs, open_rfs, relocate_rfs, verify_rfs, write_rfs
from shadowzarr.cli import main
from shadowzarr.errors import SourceChangedError, SourceNotFoundError
from shadowzarr.testing import RangeServer
from shadowzarr.testing.faults import Fault

VALUES = np.arange(3000)


@pytest.fixture
def folders(tmp_path):
    """Two folders to be served, the same file in both."""
    for name in ("old", "new"):
        (tmp_path / name).mkdir()
        with h5py.File(tmp_path / name / "x.h5", "w") as file:
            file.create_dataset("many", data=VALUES, chunks=(10,), compression="gzip")
    (tmp_path / "new" / "x.h5").write_bytes((tmp_path / "old" / "x.h5").read_bytes())
    return tmp_path


@pytest.fixture
def servers(folders):
    """Servers of the old place and the new one."""
    with RangeServer(folders / "old") as old, RangeServer(folders / "new") as new:
        yield old, new


@pytest.fixture
def refs(folders, servers):
    """References to the file at its old place."""
    write_rfs(generate_rfs(servers[0].url("x.h5"), chunk_index_threshold=50), folders / "refs")
    return folders / "refs"


def state(folder):
    return {str(path): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


def move(refs, servers, **options):
    old, new = servers
    return relocate_rfs(refs, from_prefix=old.url(), to_prefix=new.url(), **options)


def test_the_same_file_at_another_server(refs, servers):
    old, new = servers
    report = move(refs, servers)
    assert report.files == {old.url("x.h5"): new.url("x.h5")}
    assert report.checked
    assert not any(request.status == 200 for request in new.log), "the file was read whole"
    old.log.clear()
    assert np.array_equal(open_rfs(refs)["many"][...], VALUES)
    assert len(old.log) == 0
    etag = json.loads((refs / "refs.json").read_text())["sources"][new.url("x.h5")]["etag"]
    assert etag in {request.if_match for request in new.log}


def changed(path):
    data = path.read_bytes()
    path.write_bytes(data[:-1] + bytes([data[-1] ^ 1]))


@pytest.mark.parametrize(
    ("change", "error", "message"),
    [
        (changed, SourceChangedError, r"its ETag is \"[0-9a-f]+-\d+\", expected"),
        (lambda path: path.write_bytes(path.read_bytes() + b"1"), SourceChangedError, r"bytes, expected \d+"),
        (lambda path: path.unlink(), SourceNotFoundError, r"x\.h5"),
    ],
    ids=["etag", "size", "gone"],
)
def test_another_file_is_refused_and_nothing_written(refs, servers, folders, change, error, message):
    before = state(refs)
    change(folders / "new" / "x.h5")
    with pytest.raises(error, match=message):
        move(refs, servers)
    assert state(refs) == before
    assert not move(refs, servers, check=False, dry_run=True).written
    assert state(refs) == before


def test_as_a_user_sees_it(refs, servers, folders, capsys):
    old, new = servers
    changed(folders / "new" / "x.h5")
    arguments = ["relocate", str(refs), "--from", old.url(), "--to", new.url()]
    assert main(arguments) == 1
    out, err = capsys.readouterr()
    assert out == ""
    assert re.fullmatch(r"[^\n]*x\.h5[^\n]*ETag[^\n]*\n", err)
    assert "Traceback" not in err
    (folders / "new" / "x.h5").write_bytes((folders / "old" / "x.h5").read_bytes())
    assert main([*arguments, "--dry-run"]) == 0
    assert "1 file (size and ETag are the same), would change in" in capsys.readouterr().out
    assert main(arguments) == 0
    assert verify_rfs(refs, folders / "new" / "x.h5", mode="full").equal


def test_a_server_without_etags_is_compared_by_size(folders, refs):
    with RangeServer(folders / "old") as old, RangeServer(folders / "new", etag=None) as new:
        again = folders / "again"
        write_rfs(generate_rfs(old.url("x.h5")), again)
        changed(folders / "new" / "x.h5")
        relocate_rfs(again, from_prefix=old.url(), to_prefix=new.url())
        entry = json.loads((again / "refs.json").read_text())["sources"][new.url("x.h5")]
        assert entry == {"size": (folders / "new" / "x.h5").stat().st_size}
        write_rfs(generate_rfs(old.url("x.h5")), again)
        (folders / "new" / "x.h5").write_bytes(b"short")
        with pytest.raises(SourceChangedError, match="bytes, expected"):
            relocate_rfs(again, from_prefix=old.url(), to_prefix=new.url())


def test_from_a_folder_to_a_server_an_etag_is_recorded(folders):
    refs = folders / "local"
    write_rfs(generate_rfs(folders / "old" / "x.h5"), refs)
    with RangeServer(folders / "new") as new:
        relocate_rfs(refs, from_prefix=str(folders / "old"), to_prefix=new.url())
        source = json.loads((refs / "refs.json").read_text())["sources"][new.url("x.h5")]
        assert source["etag"]
        assert np.array_equal(open_rfs(refs)["many"][...], VALUES)
        changed(folders / "new" / "x.h5")
        with pytest.raises(SourceChangedError):
            open_rfs(refs)["many"][...]


def test_a_server_that_fails_for_a_moment_is_asked_again(refs, servers):
    servers[1].faults.add(Fault(path="*.h5", status=503, times=1))
    assert move(refs, servers).written


def test_into_a_bucket(folders, refs, servers, object_store):
    old, _ = servers
    data = (folders / "old" / "x.h5").read_bytes()
    object_store.put_object(Bucket="sources", Key="a b/x.h5", Body=data)
    recorded = json.loads((refs / "refs.json").read_text())["sources"][old.url("x.h5")]["etag"]
    stored = object_store.head_object(Bucket="sources", Key="a b/x.h5")["ETag"]
    assert recorded != stored  # that of several parts, and of one
    with pytest.raises(SourceChangedError, match="ETag"):
        relocate_rfs(refs, from_prefix=old.url(), to_prefix="s3://sources/a b")
    local = folders / "local"
    write_rfs(generate_rfs(folders / "old" / "x.h5"), local)
    relocate_rfs(local, from_prefix=str(folders / "old"), to_prefix="s3://sources/a b/")
    assert json.loads((local / "refs.json").read_text())["sources"] == {
        "s3://sources/a b/x.h5": {"size": len(data), "etag": stored}
    }
    assert np.array_equal(open_rfs(local)["many"][...], VALUES)
