"""Full and read-only disks, folders of others, few open files, little memory: one line, nothing half made."""

import json
import os
import shutil
from pathlib import Path

import h5py
import numpy as np
import pytest
from other_processes import Nursery, skip_without_fork
from small_disk import remount, small_disk

from shadowzarr import LocalCache, generate_rfs, open_rfs, write_rfs
from shadowzarr.access.local_cache import CacheWarning
from shadowzarr.access.source_identity import Source
from shadowzarr.refs.byte_range import FileRange

pytestmark = skip_without_fork()

SOURCE = Source("https://example.org/a.nwb", 10**6, '"e"')
SMALL = 8 * 2**10
"""Bytes of the disk that gets full."""
UNWRITABLE = ("is not writable", "is no directory that can be written to")
"""What is said before the work."""
WRITERS = {
    "generate": ("generate", "x.h5", "out", "--chunk-index-threshold", "1"),
    "generate to a file": ("generate", "x.h5", "out.json"),
    "materialize": ("materialize", "refs", "out"),
    "materialize to a zip file": ("materialize", "refs", "out.zip"),
    "to-hdf5": ("to-hdf5", "refs", "out.h5"),
    "convert": ("convert", "refs", "out.json", "--from", "rfs", "--to", "kerchunk"),
    "icechunk": ("icechunk", "refs", "out"),
}


@pytest.fixture(scope="module")
def sources(tmp_path_factory):
    """A file and its references; random numbers, so that nothing is small."""
    folder = tmp_path_factory.mktemp("sources")
    values = np.random.default_rng(0).integers(0, 2**60, (20_000, 4))
    with h5py.File(folder / "x.h5", "w") as file:
        file.create_dataset("data", data=values, chunks=(10, 4))
        file["name"] = "a name"
    write_rfs(generate_rfs(folder / "x.h5"), folder / "refs")
    return folder


@pytest.fixture(scope="module")
def commands():
    """A process that calls the command; root has no more rights in it than the owner of files."""
    drop = ["setpriv", "--bounding-set=-dac_override,-dac_read_search"]
    is_root = os.geteuid() == 0 and shutil.which("setpriv") is not None
    with Nursery("under_limits:command", before=drop if is_root else ()) as nursery:
        yield nursery


@pytest.fixture
def disk(tmp_path):
    with small_disk(tmp_path / "disk", SMALL) as place:
        yield place


@pytest.fixture
def call(commands, tmp_path):
    """Calls the command under limits; gives exit code, output, and the error's line."""

    def call(*arguments: str | Path, **limits: int) -> tuple[int, str, str]:
        result = tmp_path / "result.json"
        commands.run(str(result), json.dumps(limits), *map(str, arguments))
        code, out, err = json.loads(result.read_text())
        assert "Traceback" not in err or "memory" in limits  # libraries in C print what they swallow
        line = err.splitlines()[-1] if err else ""
        assert code == 0 or line.startswith("shadowzarr: error: "), (code, err)
        return code, out, line

    return call


@pytest.fixture
def run(call, sources):
    """Calls one of the writers with a place to write to; gives exit code and the error's line."""

    def run(writer: str, place: Path, **limits: int) -> tuple[int, str]:
        verb, source, out, *options = WRITERS[writer]
        code, _, line = call(verb, sources / source, place / out, *options, **limits)
        return code, line

    return run


@pytest.mark.parametrize("writer", WRITERS)
def test_a_full_disk(run, disk, writer):
    code, line = run(writer, disk)
    assert code == 1
    assert "No space left on device" in line
    assert not (disk / WRITERS[writer][2]).exists() or writer == "icechunk"
    assert all(path.name.endswith((".partial", "out")) for path in disk.iterdir())


@pytest.mark.parametrize("writer", WRITERS)
def test_a_disk_that_is_read_only(run, disk, writer):
    remount(disk, "ro")
    code, line = run(writer, disk)
    assert code == 1
    assert any(words in line for words in ("Read-only file system", *UNWRITABLE))
    assert list(disk.iterdir()) == []


@pytest.mark.parametrize("writer", WRITERS)
def test_a_folder_of_somebody_else(run, tmp_path, writer):
    place = tmp_path / "theirs"
    place.mkdir(mode=0o555)
    code, line = run(writer, place)
    assert code == 1
    assert any(words in line for words in ("Permission denied", *UNWRITABLE))
    assert list(place.iterdir()) == []


def is_whole(place: Path, sources: Path) -> bool:
    """Whether references show the values of the file."""
    with h5py.File(sources / "x.h5") as file:
        return bool(np.array_equal(open_rfs(place)["data"][...], file["data"][...]))


LIMITS = [{"files": 12}, {"files": 20}, {"memory": 2**20}, {"memory": 24 * 2**20}]


@pytest.mark.parametrize("limits", LIMITS, ids=str)
def test_a_comparison_with_few_open_files_and_little_memory(call, sources, limits):
    """It compares everything, or says why not; nothing differs."""
    code, out, line = call("verify", sources / "refs", "--full", **limits)
    assert "differ" not in line
    if code == 0:
        assert out.startswith("equal")
    else:
        assert any(words in line for words in ("not enough memory", "open files", "SystemError")), line


@pytest.mark.parametrize("limits", LIMITS, ids=str)
@pytest.mark.parametrize("writer", ["generate", "materialize", "to-hdf5"])
def test_few_open_files_and_little_memory(run, sources, tmp_path, writer, limits):
    """It works, or says why not and leaves nothing that has its name."""
    code, line = run(writer, tmp_path, **limits)
    out = tmp_path / WRITERS[writer][2]
    assert out.exists() == (code == 0)
    if code and "memory" in limits:  # libraries in C may lose the reason on their way out
        assert "not enough memory" in line or "SystemError" in line
    if code == 0 and writer == "generate":
        assert is_whole(out, sources)


def test_a_cache_on_a_full_disk_is_gone_without(disk):
    cache = LocalCache(disk)
    parts = [FileRange(4096 * number, 4096) for number in range(20)]
    data = [bytes([number]) * 4096 for number in range(20)]
    with pytest.warns(CacheWarning, match="full"):
        cache.put_many(SOURCE, parts, data)
    found = cache.get_many(SOURCE, parts)
    assert all(each is None or bytes(each) == value for each, value in zip(found, data, strict=True))
