"""``--json``: one object on standard output, with what the text says, and what is left out."""

import json

import h5py
import pytest
from command_line import call

from shadowzarr import load_rfs


def outcome(*arguments, code=0):
    result = call(*arguments, "--json")
    assert result.returncode == code, result.stderr
    return json.loads(result.stdout)


def test_generate_counts_what_it_wrote(made, tmp_path):
    said = outcome("generate", made / "good.h5", tmp_path / "out")
    assert (said["out"], said["format"]) == (str(tmp_path / "out"), "hdf5")
    assert (said["groups"], said["arrays"], said["left_out"]) == (2, 2, [])
    assert said["nbytes"] == sum(f.stat().st_size for f in (tmp_path / "out").rglob("*") if f.is_file())
    assert (said["requests"], said["bytes_read"]) == (0, 0)  # of a local file


def test_generate_names_what_it_leaves_out(made, tmp_path):
    said = outcome("generate", made / "partly.h5", tmp_path / "out", code=3)
    assert [entry["path"] for entry in said["left_out"]] == ["/times"]
    assert set(said["left_out"][0]) == {"path", "kind", "reason"}
    again = outcome("icechunk", tmp_path / "out", tmp_path / "repository", code=3)
    assert (again["left_out"], again["branch"]) == (said["left_out"], "main")
    assert len(again["snapshot"]) == 20


def test_convert(made, tmp_path):
    said = outcome("convert", made / "good", tmp_path / "k.json", "--from", "rfs", "--to", "kerchunk")
    assert (said["arrays"], said["left_out"]) == (2, [])
    assert said["nbytes"] == (tmp_path / "k.json").stat().st_size


def test_relocate_names_files_without_their_queries(made, tmp_path):
    with h5py.File(tmp_path / "old.h5", "w") as file:
        file["x"] = range(1000)
    assert call("generate", tmp_path / "old.h5", tmp_path / "r.json").returncode == 0
    (tmp_path / "old.h5").rename(tmp_path / "new.h5")
    old, new = f"{tmp_path}/old.h5", f"{tmp_path}/new.h5"
    said = outcome("relocate", tmp_path / "r.json", "--from", old, "--to", new)
    assert said["files"] == {old: new}
    assert (said["written"], said["sizes"]) == (True, 1)
    assert list(load_rfs(tmp_path / "r.json")["sources"]) == [new]


def test_the_place_that_is_offered_is_another_one(made):
    for verb in (["convert", "--from", "rfs"], ["generate"]):
        result = call(*verb, made / "good", made / "good")
        assert result.returncode == 1
        offered = result.stderr.rpartition("such as ")[2].strip()
        assert offered == str(made / "good.shadowzarr")
    (made / "x.shadowzarr").symlink_to(made / "good")
    result = call("convert", made / "x.shadowzarr", made / "x.shadowzarr", "--from", "rfs", "--force")
    assert result.stderr.rpartition("such as ")[2].strip() == str(made / "x-2.shadowzarr")


@pytest.mark.parametrize("action", ["info", "clear"])
def test_cache(action, tmp_path):
    from shadowzarr import LocalCache
    from shadowzarr.access.source_identity import Source
    from shadowzarr.refs.byte_range import FileRange

    LocalCache(tmp_path).put_many(Source("https://a.org/a", 9, '"e"'), [FileRange(0, 15)], [bytes(15)])
    said = outcome("cache", action, "--folder", tmp_path)
    assert (said["nbytes"], said["ranges"], said["sources"]) == (15, 1, 1)
