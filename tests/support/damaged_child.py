"""Generate, write, open, read and verify each damaged file that is named on standard input, one a line.

Runs in a process of its own with bounded memory. For each file it prints one line of JSON: the error, or
what of the file reads otherwise than h5py reads it. A line may begin with a way to read: ``h5py `` for h5py
alone, ``remote `` for a server between, from which metadata are read ahead in small requests, ``index `` for
the chunk index of its dataset ``d``, ``tiff `` for a TIFF file, and ``tifffile `` for tifffile alone.
"""

import contextlib
import gc
import json
import resource
import shutil
import sys
import tempfile
import warnings
from collections.abc import Iterator
from pathlib import Path

import h5py
import hdf5plugin  # noqa: F401 (h5py alone is to have the filters that it has beside the library)
import numpy as np
from index_reading import is_same
from tiff_reading import DECODING_FAILED, ReadBack, assert_same, levels

from shadowzarr.errors import ShadowzarrError
from shadowzarr.formats.hdf5 import opening
from shadowzarr.formats.hdf5.generate import generate_rfs
from shadowzarr.formats.hdf5.opening import RemoteReading
from shadowzarr.store.open_rfs import open_rfs
from shadowzarr.testing import RangeServer
from shadowzarr.verify import verify_rfs
from shadowzarr.write import write_rfs

MEMORY = 3 * 2**30
MOST_ELEMENTS = 2**20
UNREADABLE = {"unreadable original", "unreadable references", "not to be judged"}


def outcome(path: Path, folder: Path) -> dict:
    try:
        rfs = generate_rfs(path)
    except ShadowzarrError as error:
        return {"error": type(error).__name__, "named": path.name in str(error), "message": str(error)}
    found = {"skipped": len(rfs.get("skipped", [])), "wrong": []}
    for form in ("out.json", "out.shadowzarr"):
        write_rfs(rfs, folder / form)
        try:
            found["wrong"] += compare(path, rfs, open_rfs(folder / form))
            report = verify_rfs(folder / form, mode="sample")
        except ShadowzarrError as error:
            found["verification"] = f"{type(error).__name__}: {error}"
            continue
        found["wrong"] += [
            f"{each.path}: {each.kind}: {each.original} {each.references}"
            for each in report.differences
            if each.kind not in UNREADABLE
        ]
    return found


def remote_outcome(path: Path) -> dict:
    """The same of a file behind a server, read ahead in requests of 512 bytes, without a verification."""
    opening.REMOTE = RemoteReading(512, 512, 512)
    gc.collect()
    gc.disable()  # the server is a thread of this process, and h5py's lock must not be waited for there
    try:
        with RangeServer(path.parent) as server:
            try:
                rfs = generate_rfs(server.url(path.name))
            except ShadowzarrError as error:
                named = path.name.replace(" ", "%20") in str(error)
                return {"error": type(error).__name__, "named": named, "message": str(error)}
            return {"skipped": len(rfs.get("skipped", [])), "wrong": compare(path, rfs, open_rfs(rfs))}
    finally:
        gc.enable()


def compare(path: Path, rfs: dict, root: object) -> list[str]:
    """Arrays of numbers that both give, and give differently."""
    wrong = []
    with opened(path) as file:
        for key in rfs["refs"]:
            name = key.removesuffix("/zarr.json")
            values = from_h5py(file, name)
            if values is None:
                continue
            try:
                given = np.asarray(root[name][...])
            except Exception:  # unreadable is not wrong
                continue
            if given.shape != values.shape or given.astype(values.dtype).tobytes() != values.tobytes():
                wrong.append(f"{name}: {given!r} for {values!r}"[:300])
    return wrong


@contextlib.contextmanager
def opened(path: Path) -> Iterator[h5py.File]:
    """A file that h5py opens by its path, or else as it opens those behind URLs."""
    try:
        file = h5py.File(path, "r")
    except OSError:  # marked as being written, which does not keep it from reading a stream
        with path.open("rb") as stream, h5py.File(stream, "r") as file:
            yield file
        return
    try:
        yield file
    finally:
        with contextlib.suppress(RuntimeError):  # where HDF5 finds a damage by closing
            file.close()


def from_h5py(file: h5py.File, name: str) -> np.ndarray | None:
    try:
        dataset = file[name]
        plain = (
            isinstance(dataset, h5py.Dataset)
            and dataset.dtype.kind in "iufc"
            and dataset.dtype.itemsize <= 8
            and dataset.shape is not None
        )
        return dataset[...] if plain and dataset.size <= MOST_ELEMENTS else None
    except Exception:  # damaged: h5py raises of every kind, and what it cannot read has no right value
        return None


def index_outcome(path: Path) -> dict:
    try:
        return {"same": is_same(path)}
    except (OSError, KeyError):  # h5py does not open the file or the dataset
        return {"same": False}


def tiff_outcome(path: Path) -> dict:
    try:
        back = ReadBack(path)
    except ShadowzarrError as error:
        return {"error": type(error).__name__, "named": path.name in str(error), "message": str(error)}
    try:
        levels(path)
    except MemoryError:
        return {"not judged": "tifffile needs more memory than there is"}
    try:
        assert_same(path, back, left_out=None)
    except AssertionError as error:
        return {"skipped": 0, "wrong": [str(error)[:500]]}
    except DECODING_FAILED as error:  # tifffile fills up or cuts off what is damaged, and gives values
        return {"unreadable": str(error)}
    return {"skipped": len(back.skipped()), "wrong": []}


def read_by_tifffile(path: Path) -> dict:
    try:
        levels(path)
    except Exception as error:
        return {"tifffile": str(error)}
    return {"tifffile": ""}


def read_by_h5py(path: Path) -> dict:
    """All that h5py shows of a file, for the sake of reading it."""

    def visit(_name: str, item: object) -> None:
        for read in (lambda: dict(item.attrs), lambda: isinstance(item, h5py.Dataset) and small(item)):
            try:
                read()
            except Exception:  # only whether h5py crashes or hangs is asked here, not what it says
                continue

    def small(item: h5py.Dataset) -> None:
        item.id.get_create_plist()
        if item.shape is not None and item.size <= MOST_ELEMENTS:
            _ = item[...]

    try:
        with h5py.File(path, "r") as file:
            visit("", file)
            file.visititems(visit)
    except Exception as error:
        return {"h5py": str(error)}
    return {"h5py": ""}


def main() -> None:
    warnings.simplefilter("ignore")
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    folder = Path(tempfile.mkdtemp())
    ways = {
        "h5py": read_by_h5py,
        "remote": remote_outcome,
        "index": index_outcome,
        "tiff": tiff_outcome,
        "tifffile": read_by_tifffile,
    }
    for line in sys.stdin:
        way, _, name = line.rstrip("\n").rpartition(" /")
        path = Path(f"/{name}" if way else name)
        try:
            result = ways[way](path) if way else outcome(path, folder)
        except Exception as error:
            import traceback

            result = {"escaped": f"{type(error).__name__}: {error}", "trace": traceback.format_exc()[-1500:]}
        print(json.dumps(result), flush=True)
    shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    main()
