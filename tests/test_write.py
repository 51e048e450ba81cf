import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import zarr

from shadowzarr import RfsBuilder, load_rfs, open_rfs, write_rfs
from shadowzarr.errors import DamagedSourceError, OutputError, UsageError
from shadowzarr.refs.inline import decode_inline, encode_inline
from shadowzarr.refs.zarr_metadata import BYTES_CODEC

ROOT = Path(__file__).resolve().parents[1]


def document(path):
    return json.loads((path if path.suffix == ".json" else path / "refs.json").read_text())


def tree(folder):
    return sorted(str(p.relative_to(folder)) for p in folder.rglob("*") if p.is_file())


def indexed(grid=(2048, 160), name="acquisition/ElectricalSeries/data", first=0):
    builder = RfsBuilder()
    builder.add_array(name, shape=grid, data_type="int16", chunk_shape=(1,) * len(grid))
    index = np.zeros((*grid, 2), np.uint64)
    flat = index.reshape(-1, 2)
    flat[:, 0] = first + np.arange(len(flat), dtype=np.uint64) * 2
    flat[:, 1] = 2
    builder.add_index(name, "https://example.org/a.nwb", index)
    builder.add_source("https://example.org/a.nwb", 10**9, '"e"')
    return builder.build(), index


class TestDirectory:
    def test_the_example_of_the_documentation(self, tmp_path):
        rfs, index = indexed()
        write_rfs(rfs, tmp_path / "x")
        entry = document(tmp_path / "x")["indexes"]["acquisition/ElectricalSeries/data"]
        assert entry["metadata"]["chunk_grid"]["configuration"]["chunk_shape"] == [409, 160, 2]
        array = zarr.open_array(tmp_path / "x" / entry["index"], mode="r")
        assert array.chunks == (409, 160, 2)
        np.testing.assert_array_equal(array[...], index)
        assert array.metadata.to_dict()["fill_value"] == 2**64 - 1

    def test_the_rfs_in_memory_is_left_alone(self, tmp_path):
        rfs, _ = indexed()
        before = dict(rfs["indexes"])
        write_rfs(rfs, tmp_path / "x")
        assert rfs["indexes"] == before
        assert rfs["indexes"]["acquisition/ElectricalSeries/data"]["index"] is not None

    def test_writing_twice_gives_the_same_bytes(self, tmp_path):
        rfs, _ = indexed()
        write_rfs(rfs, tmp_path / "x")
        write_rfs(rfs, tmp_path / "y")
        assert tree(tmp_path / "x") == tree(tmp_path / "y")
        for name in tree(tmp_path / "x"):
            assert (tmp_path / "x" / name).read_bytes() == (tmp_path / "y" / name).read_bytes()

    def test_replacing_removes_what_only_the_old_one_pointed_to(self, tmp_path):
        old, _ = indexed()
        new, index = indexed(first=7)
        write_rfs(old, tmp_path / "x")
        old_files = set(tree(tmp_path / "x"))
        write_rfs(new, tmp_path / "x")
        entry = document(tmp_path / "x")["indexes"]["acquisition/ElectricalSeries/data"]
        np.testing.assert_array_equal(zarr.open_array(tmp_path / "x" / entry["index"], mode="r")[...], index)
        assert set(tree(tmp_path / "x")) & old_files == {"refs.json"}

    def test_replacing_by_references_without_index_leaves_no_folder(self, tmp_path):
        write_rfs(indexed()[0], tmp_path / "x")
        write_rfs(RfsBuilder().build(), tmp_path / "x")
        assert tree(tmp_path / "x") == ["refs.json"]
        assert [p.name for p in (tmp_path / "x").iterdir()] == ["refs.json"]

    def test_left_overs_of_a_killed_writer_are_cleared(self, tmp_path):
        target = tmp_path / "x"
        (target / "index" / ".1.tmp").mkdir(parents=True)
        (target / ".2.tmp").write_text("half")
        write_rfs(RfsBuilder().build(), target)
        assert [p.name for p in target.iterdir()] == ["refs.json"]

    @pytest.mark.parametrize(
        "name", ["#?%\\", "...", "ü" * 150, "a" * 300, "con", "x y", "{{u0}}", "c/0", "new\nline"]
    )
    def test_any_array_name_makes_a_safe_folder(self, tmp_path, name):
        rfs, index = indexed((3, 2), name)
        write_rfs(rfs, tmp_path / "x")
        folder = document(tmp_path / "x")["indexes"][name]["index"]
        assert folder.startswith("index/")
        assert folder.count("/") == 1
        assert folder.isascii()
        assert len(folder) < 100
        np.testing.assert_array_equal(zarr.open_array(tmp_path / "x" / folder, mode="r")[...], index)

    def test_two_arrays_of_one_content_have_folders_of_their_own(self, tmp_path):
        builder = RfsBuilder()
        for name in ("a", "b"):
            builder.add_array(name, shape=[2], data_type="int8", chunk_shape=[1])
            builder.add_index(name, "f", np.ones((2, 2), np.uint64))
        write_rfs(builder.build(), tmp_path / "x")
        entries = document(tmp_path / "x")["indexes"]
        assert entries["a"]["index"] != entries["b"]["index"]

    def test_many_inline_bytes_go_to_a_file_beside_the_document(self, tmp_path):
        builder = RfsBuilder()
        codecs = [BYTES_CODEC, {"name": "gzip", "configuration": {"level": 1}}]
        builder.add_array("a", shape=[4], data_type="uint8", chunk_shape=[1], codecs=codecs)
        for i, data in enumerate([b"a" * 10, b"b" * 900, b"c" * 500, b"d" * 20]):
            builder.add_inline_chunk("a", (i,), data)
        write_rfs(builder.build(), tmp_path / "x", inline_limit=100)
        written = document(tmp_path / "x")
        name, offset, length = written["refs"]["a/c/2"]
        assert (tmp_path / "x" / name).read_bytes()[offset : offset + length] == b"c" * 500
        assert (offset, written["inline_files"]) == (900, [name])
        assert decode_inline(written["refs"]["a/c/3"]) == b"d" * 20
        write_rfs(load_rfs(tmp_path / "x"), tmp_path / "y.json")
        assert document(tmp_path / "y.json")["refs"]["a/c/1"] == encode_inline(b"b" * 900)
        write_rfs(RfsBuilder().build(), tmp_path / "x")
        assert tree(tmp_path / "x") == ["refs.json"]

    @pytest.mark.parametrize("what", ["a file", "a full folder", "a file above"])
    def test_places_that_cannot_be_written(self, tmp_path, what):
        target = tmp_path / "x"
        if what == "a file":
            target.write_text("precious")
        elif what == "a full folder":
            target.mkdir()
            (target / "precious").write_text("precious")
        else:
            target.write_text("precious")
            target = target / "below"
        before = tree(tmp_path)
        with pytest.raises(OutputError, match="cannot write"):
            write_rfs(RfsBuilder().build(), target)
        assert tree(tmp_path) == before


class TestOneFile:
    def test_every_chunk_is_listed(self, tmp_path):
        rfs, index = indexed((3, 2), "a")
        index[1, 1] = 2**64 - 1
        write_rfs(rfs, tmp_path / "x.json")
        written = document(tmp_path / "x.json")
        assert (written["version"], "indexes" in written, "requires" in written) == (1, False, False)
        chunks = {key: ref for key, ref in written["refs"].items() if "/c/" in key}
        assert chunks == {
            "a/c/0/0": ["{{u0}}", 0, 2],
            "a/c/0/1": ["{{u0}}", 2, 2],
            "a/c/1/0": ["{{u0}}", 4, 2],
            "a/c/2/0": ["{{u0}}", 8, 2],
            "a/c/2/1": ["{{u0}}", 10, 2],
        }
        assert written["templates"] == {"u0": "https://example.org/a.nwb"}

    def slabs(self, tmp_path, size):
        (tmp_path / "raw.bin").write_bytes(bytes(range(size)))
        builder = RfsBuilder()
        builder.add_array("a", shape=[5], data_type="uint8", chunk_shape=[2])
        builder.add_contiguous_chunks(
            "a", url=str(tmp_path / "raw.bin"), start=3, shape=[5], chunk_shape=[2], itemsize=1
        )
        builder.add_source(str(tmp_path / "raw.bin"), size)
        return builder.build()

    def test_a_last_slab_past_the_end_of_the_file_is_held_inline_padded(self, tmp_path):
        write_rfs(self.slabs(tmp_path, 8), tmp_path / "x.json")
        refs = document(tmp_path / "x.json")["refs"]
        assert refs["a/c/1"] == ["{{u0}}", 5, 2]
        assert refs["a/c/2"] == encode_inline(b"\x07\x00")

    def test_a_last_slab_within_the_file_is_referenced(self, tmp_path):
        write_rfs(self.slabs(tmp_path, 9), tmp_path / "x.json")
        assert document(tmp_path / "x.json")["refs"]["a/c/2"] == ["{{u0}}", 7, 2]

    def test_a_plain_chunk_referenced_at_less_than_full_length_is_held_inline_padded(self, tmp_path):
        (tmp_path / "raw.bin").write_bytes(bytes(range(20)))
        builder = RfsBuilder()
        builder.add_array("a", shape=[5], data_type="uint8", chunk_shape=[2])
        builder.add_chunk("a", (1,), str(tmp_path / "raw.bin"), 5, 2)
        builder.add_chunk("a", (2,), str(tmp_path / "raw.bin"), 7, 1)
        write_rfs(builder.build(), tmp_path / "x.json")
        refs = document(tmp_path / "x.json")["refs"]
        assert refs["a/c/1"] == ["{{u0}}", 5, 2]
        assert refs["a/c/2"] == encode_inline(b"\x07\x00")

    def test_a_file_that_lacks_bytes_of_the_array_is_refused(self, tmp_path):
        with pytest.raises(DamagedSourceError, match="'a/c/2'.*truncated"):
            write_rfs(self.slabs(tmp_path, 7), tmp_path / "x.json")
        assert not (tmp_path / "x.json").exists()

    def test_explicit_references_win_over_gen_and_gen_over_indexes(self, tmp_path):
        builder = RfsBuilder()
        builder.add_array("a", shape=[3], data_type="uint8", chunk_shape=[1])
        builder.add_index("a", "s3://b/index", np.ones((3, 2), np.uint64))
        builder.add_strided_chunks("a", ndim=1, url="s3://b/gen", start=0, stride=1, length=1, count=2)
        builder.add_chunk("a", (0,), "s3://b/refs", 9, 1)
        write_rfs(builder.build(), tmp_path / "x.json")
        written = document(tmp_path / "x.json")
        urls = [written["templates"][written["refs"][f"a/c/{i}"][0].strip("{}")] for i in range(3)]
        assert urls == ["s3://b/refs", "s3://b/gen", "s3://b/index"]

    def test_selections_stay_version_2(self, tmp_path):
        builder = RfsBuilder()
        builder.add_array("a", shape=[4], data_type="uint8", chunk_shape=[2])
        builder.add_selection("a", 3, [[0, 1]])
        builder.add_contiguous_chunks(
            "a", url="f", start=0, shape=[4], chunk_shape=[2], itemsize=1, row_bytes=3
        )
        write_rfs(builder.build(), tmp_path / "x.json")
        written = document(tmp_path / "x.json")
        assert (written["version"], written["requires"], "gen" in written) == (2, ["selections"], False)
        assert written["refs"]["a/c/1"] == ["{{u0}}", 6, 6]

    def test_a_folder_is_not_overwritten(self, tmp_path):
        (tmp_path / "x.json").mkdir()
        with pytest.raises(OutputError, match="directory"):
            write_rfs(RfsBuilder().build(), tmp_path / "x.json")

    def test_nothing_half_written_is_left(self, tmp_path):
        rfs = RfsBuilder().build()
        rfs["refs"]["a"] = "\udce9"  # cannot be written as UTF-8
        with pytest.raises(ValueError, match="JSON"):
            write_rfs(rfs, tmp_path / "x.json")
        assert list(tmp_path.iterdir()) == []


class TestNamesOfFiles:
    """References in memory mean the same when they are written, in any folder and of any name."""

    @pytest.mark.parametrize("form", ["x/refs.json", "x.json"])
    @pytest.mark.parametrize("name", ["raw.bin", "sub/../raw.bin", "{{u0}}.bin", "{{i}}", "a b#?%41.bin"])
    def test_relative_paths_and_braces(self, tmp_path, monkeypatch, name, form):
        values = np.arange(12, dtype="<i2").reshape(6, 2)
        (tmp_path / "here" / "sub").mkdir(parents=True)
        monkeypatch.chdir(tmp_path / "here")
        Path(name).write_bytes(values.tobytes())
        builder = RfsBuilder()
        for path in ("rule", "listed", "indexed"):
            builder.add_array(path, shape=[6, 2], data_type="int16", chunk_shape=[2, 2])
        builder.add_strided_chunks("rule", ndim=2, url=name, start=0, stride=8, length=8, count=3)
        for number in range(3):
            builder.add_chunk("listed", (number, 0), name, 8 * number, 8)
        index = np.array([[[0, 8]], [[8, 8]], [[16, 8]]], np.uint64)
        builder.add_index("indexed", name, index)
        builder.add_source(name, 24)
        target = tmp_path / "there" / form
        rfs = builder.build()
        write_rfs(rfs, target if form == "x.json" else target.parent)
        assert rfs["templates"] == {"u0": name}
        assert list(document(target)["sources"]) == [os.path.abspath(name)]  # noqa: PTH100
        again = tmp_path / "again" / form  # loaded and written once more
        write_rfs(load_rfs(target), again if form == "x.json" else again.parent)
        monkeypatch.chdir(tmp_path)
        for source in (target, again):
            root = open_rfs(source)
            for path in ("rule", "listed", "indexed"):
                np.testing.assert_array_equal(root[path][...], values)

    def test_in_memory_braces_are_part_of_a_name(self, tmp_path):
        (tmp_path / "{{u0}}").write_bytes(b"abc")
        builder = RfsBuilder()
        builder.add_array("a", shape=[3], data_type="uint8", chunk_shape=[3])
        builder.add_chunk("a", (0,), str(tmp_path / "{{u0}}"), 0, 3)
        assert open_rfs(builder.build())["a"][...].tolist() == list(b"abc")

    def test_absolute_places_stay_as_they_are_spelled(self, tmp_path):
        builder = RfsBuilder()
        builder.add_array("a", shape=[2], data_type="uint8", chunk_shape=[1])
        builder.add_chunk("a", (0,), "https://example.org/a/../b.nwb", 0, 1)
        builder.add_chunk("a", (1,), "/data//x/../y", 0, 1)
        rfs = builder.build()
        write_rfs(rfs, tmp_path / "x")
        assert document(tmp_path / "x")["templates"] == rfs["templates"]

    def test_templates_in_the_middle_of_a_name(self, tmp_path, monkeypatch):
        monkeypatch.chdir(tmp_path)
        (tmp_path / "data" / "sub").mkdir(parents=True)
        (tmp_path / "data" / "sub" / "f").write_bytes(b"ab")
        builder = RfsBuilder()
        builder.add_array("a", shape=[2], data_type="uint8", chunk_shape=[1])
        rfs = builder.build()
        rfs["templates"] = {"s": "sub"}
        rfs["refs"] |= {"a/c/0": ["data/{{s}}/f", 0, 1], "a/c/1": [f"{tmp_path}/data/{{{{s}}}}/f", 1, 1]}
        write_rfs(rfs, tmp_path / "elsewhere" / "x.json")
        assert open_rfs(tmp_path / "elsewhere" / "x.json")["a"][...].tolist() == list(b"ab")


def test_of_several_rules_the_first_counts(tmp_path):
    (tmp_path / "one").write_bytes(b"\1\1")
    (tmp_path / "two").write_bytes(b"\2\2\2")
    builder = RfsBuilder()
    builder.add_array("a", shape=[3], data_type="uint8", chunk_shape=[1])
    builder.add_strided_chunks("a", ndim=1, url=str(tmp_path / "one"), start=0, stride=1, length=1, count=2)
    rfs = builder.build()
    rfs["gen"].append({**rfs["gen"][0], "url": str(tmp_path / "two"), "dimensions": {"i": {"stop": 3}}})
    write_rfs(rfs, tmp_path / "x")
    write_rfs(rfs, tmp_path / "x.json")
    for source in (rfs, tmp_path / "x", tmp_path / "x.json"):
        assert open_rfs(source)["a"][...].tolist() == [1, 1, 2]


class TestWhatIsReplaced:
    """References, and nothing else."""

    @pytest.mark.parametrize("text", ["mine", "{}", '{"refs": 1}', "[]", '{"a": '])
    @pytest.mark.parametrize("name", ["x.json", "x/refs.json"])
    def test_a_file_that_holds_no_references_stays(self, tmp_path, name, text):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
        with pytest.raises(OutputError, match="only references are replaced"):
            write_rfs(RfsBuilder().build(), tmp_path / name.partition("/")[0])
        assert (tmp_path / name).read_text() == text

    @pytest.mark.parametrize("text", ["", '{"refs": {}}', '{"version": 1, "refs": {"a": NaN}}'])
    def test_references_and_empty_files_are_replaced(self, tmp_path, text):
        (tmp_path / "x.json").write_text(text)
        write_rfs(RfsBuilder().build(), tmp_path / "x.json")
        assert document(tmp_path / "x.json")["version"] == 1

    def test_folders_with_our_names_are_not_taken_for_ours(self, tmp_path):
        (tmp_path / "index").mkdir()
        (tmp_path / "index" / "chapter.txt").write_text("mine")
        with pytest.raises(OutputError, match="index/chapter"):
            write_rfs(RfsBuilder().build(), tmp_path)
        assert tree(tmp_path) == ["index/chapter.txt"]

    def test_what_somebody_put_beside_the_references_stays(self, tmp_path):
        write_rfs(indexed()[0], tmp_path / "x")
        (tmp_path / "x" / "index" / "notes.txt").write_text("mine")
        (tmp_path / "x" / "README").write_text("mine")
        write_rfs(RfsBuilder().build(), tmp_path / "x")
        assert tree(tmp_path / "x") == ["README", "index/notes.txt", "refs.json"]

    @pytest.mark.parametrize("rfs", ["session.nwb", None, {"version": 1}, ["refs"]])
    def test_only_references_are_written(self, tmp_path, rfs):
        with pytest.raises(UsageError, match="generate_rfs.* makes them, load_rfs"):
            write_rfs(rfs, tmp_path / "x")
        assert list(tmp_path.iterdir()) == []


class TestWhatAFailureLeaves:
    """What was there before, as it was, and nothing else."""

    def failing(self):
        """References with an index, whose document cannot be written: the index is written before it."""
        rfs, _ = indexed((3, 2))
        rfs["refs"]["a"] = "\udce9"
        return rfs

    def test_a_name_that_is_not_utf_8(self, tmp_path):
        with pytest.raises(UsageError, match="JSON"):
            write_rfs(self.failing(), tmp_path / "new" / "x")
        assert list(tmp_path.iterdir()) == []
        with pytest.raises(UsageError, match="JSON"):
            write_rfs(self.failing(), tmp_path / "new" / "x.json")
        assert list(tmp_path.iterdir()) == []

    def test_a_folder_that_was_there_stays(self, tmp_path):
        (tmp_path / "x" / "index").mkdir(parents=True)
        with pytest.raises(UsageError):
            write_rfs(self.failing(), tmp_path / "x")
        assert [path.name for path in (tmp_path / "x").iterdir()] == ["index"]
        assert list((tmp_path / "x" / "index").iterdir()) == []

    def test_references_that_were_there_stay_whole(self, tmp_path):
        write_rfs(indexed((3, 2), first=9)[0], tmp_path / "x")
        before = {name: (tmp_path / "x" / name).read_bytes() for name in tree(tmp_path / "x")}
        failing = self.failing()
        with pytest.raises(UsageError):
            write_rfs(failing, tmp_path / "x")
        assert {name: (tmp_path / "x" / name).read_bytes() for name in tree(tmp_path / "x")} == before

    def test_an_index_that_was_there_stays(self, tmp_path):
        write_rfs(indexed((3, 2))[0], tmp_path / "x")
        before = tree(tmp_path / "x")
        with pytest.raises(UsageError):
            write_rfs(self.failing(), tmp_path / "x")  # with the same index, under the same name
        assert tree(tmp_path / "x") == before

    @pytest.mark.parametrize("fails", ["_serialise", "_write_array", "_write_large_inline", "_replace"])
    @pytest.mark.parametrize(
        "error", [KeyboardInterrupt, OSError(28, "No space left on device"), MemoryError]
    )
    def test_any_failure_at_any_step(self, tmp_path, monkeypatch, fails, error):
        def fail(*_, **__):
            raise error

        monkeypatch.setattr(f"shadowzarr.write.{fails}", fail)
        expected = OutputError if isinstance(error, OSError) else error
        with pytest.raises(expected):
            write_rfs(indexed((3, 2))[0], tmp_path / "new" / "x")
        assert list(tmp_path.iterdir()) == []

    def test_an_interrupt_after_the_new_ones_are_in_place_takes_nothing_away(self, tmp_path, monkeypatch):
        rename = Path.replace

        def interrupted(path, target):
            rename(path, target)
            if target.name == "refs.json":
                raise KeyboardInterrupt

        monkeypatch.setattr(Path, "replace", interrupted)
        with pytest.raises(KeyboardInterrupt):
            write_rfs(indexed((3, 2))[0], tmp_path / "x")
        monkeypatch.undo()
        assert document(tmp_path / "x")["indexes"]
        assert load_rfs(tmp_path / "x")["indexes"]
        assert len(tree(tmp_path / "x")) == 3

    @pytest.mark.parametrize("name", ["x", "x.json"])
    def test_a_disk_that_is_full(self, tmp_path, name):
        code = (
            "import resource, sys; from tests_rfs import made; from shadowzarr import write_rfs\n"
            "resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))\n"
            "write_rfs(made, sys.argv[1])"
        )
        (tmp_path / "tests_rfs.py").write_text(
            "import numpy as np; from shadowzarr import RfsBuilder\n"
            "b = RfsBuilder(); b.add_array('a', shape=(100, 100), data_type='int8', chunk_shape=(1, 1))\n"
            "index = np.random.default_rng(0).integers(0, 2**40, (100, 100, 2)).astype('u8')\n"
            "b.add_index('a', 'f', index); made = b.build()"
        )
        done = subprocess.run(
            [sys.executable, "-B", "-c", code, str(tmp_path / "new" / name)],
            cwd=tmp_path,
            env={**os.environ, "PYTHONPATH": f"{tmp_path}{os.pathsep}{ROOT}"},
            capture_output=True,
            text=True,
            timeout=60,
        )
        assert "OutputError: cannot write" in done.stderr
        assert "File too large" in done.stderr
        assert [path.name for path in tmp_path.iterdir()] == ["tests_rfs.py"]
