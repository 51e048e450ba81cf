"""What is killed at random moments, and what looks on meanwhile; run by `other_processes`."""

import json
import pickle
import random
import time
import warnings
from collections.abc import Callable
from pathlib import Path

import numpy as np
import zarr

from shadowzarr import LocalCache, RfsBuilder, load_rfs, materialize, open_rfs, to_hdf5, write_rfs
from shadowzarr.access.source_identity import Source
from shadowzarr.catalog.archive_address import ArchiveAddress
from shadowzarr.catalog.child_pool import ChildPool
from shadowzarr.catalog.index_run import index_dandisets
from shadowzarr.catalog.jobs import PRELOAD
from shadowzarr.catalog.options import ReferenceOptions
from shadowzarr.catalog.records import read_record
from shadowzarr.catalog.request import DandisetRequest, IndexRequest
from shadowzarr.errors import OutputBusyError, ShadowzarrError, SourceNotFoundError
from shadowzarr.refs.byte_range import FileRange
from shadowzarr.refs.document import Rfs
from shadowzarr.write import DOCUMENT_NAME

Begin = Callable[[], object]

DANDISET = "000001"

# An indexing run. References name blobs, which stay where an asset is replaced.


def index_request(api_url: str, output: Path) -> IndexRequest:
    return IndexRequest(
        ArchiveAddress(api_url),
        (DandisetRequest(DANDISET),),
        output,
        options=ReferenceOptions(chunk_index_threshold=1, url="blob"),
        concurrency=1,
        timeout=60.0,
    )


def index(begin: Begin, api_url: str, output: str) -> None:
    with ChildPool(1, timeout=60, preload=PRELOAD) as pool:
        pool.run("os:getpid")
        begin()
        index_dandisets(index_request(api_url, Path(output)), pool=pool)


def index_in_turn(begin: Begin, api_url: str, output: str) -> None:
    """Index as soon as no other run does."""
    with ChildPool(1, timeout=60, preload=PRELOAD) as pool:
        pool.run("os:getpid")
        begin()
        while True:
            try:
                summary = index_dandisets(index_request(api_url, Path(output)), pool=pool)
            except OutputBusyError:
                time.sleep(0.05)
            else:
                assert summary.exit_code == 0
                return


def look_at_output(output: str) -> dict[str, int]:
    """Read all values of whatever is published, and compare records with what they describe."""
    counts = {"sets": 0, "records": 0, "replaced meanwhile": 0}
    for document in sorted(Path(output).glob(f"dandisets/**/{DOCUMENT_NAME}")):
        before = document.read_bytes()
        try:
            assert_whole_file(open_rfs(document.parent))
        except (ShadowzarrError, OSError):
            if document.read_bytes() == before:
                raise
            counts["replaced meanwhile"] += 1
        else:
            counts["sets"] += 1
    for path in sorted(Path(output).glob("dandisets/**/*.record.json")):
        counts["records"] += _is_described(Path(output), path)
    return counts


def assert_whole_file(root: zarr.Group) -> None:
    """All values are those of one file, whose number stands in its attributes."""
    seed = root.attrs["seed"]
    counts = root["counts"][...]
    assert np.array_equal(counts, np.arange(len(counts)) + seed)
    assert np.array_equal(root["series/values"][...], np.linspace(0, seed + 1, 500))
    assert root["title"][...] == f"file {seed}"


def _is_described(output: Path, path: Path) -> bool:
    """Whether a record was there all the time, and then describes the references beside it."""
    try:
        record = read_record(path)
        if record.outcome == "failed":
            return True
        sources = json.loads((output / record.references / DOCUMENT_NAME).read_bytes())["sources"]
    except FileNotFoundError:
        assert not path.exists(), f"{path} describes nothing"
        return False
    if not path.exists():
        return False
    assert list(sources) == [record.url]
    return True


# A refresh of an Icechunk repository.


def refresh(begin: Begin, request: str) -> None:
    import icechunk

    from shadowzarr.catalog.refresh.run import refresh_icechunk

    icechunk.set_logs_filter("error")
    wanted = pickle.loads(bytes.fromhex(request))
    begin()
    refresh_icechunk(wanted)


def look_at_repository(place: str, store_url: str) -> dict[str, int]:
    """Read the repository's newest state; all of its assets are whole, and there are as many as it says."""
    import icechunk

    from shadowzarr.icechunk import open_repository
    from shadowzarr.icechunk.asset_groups import held_assets

    icechunk.set_logs_filter("error")
    session = open_repository(place, [store_url], create=False).readonly_session("main")
    root, held = zarr.open_group(session.store, mode="r"), held_assets(session)
    for path in held:
        group = root[path]
        number, counts = group.attrs["number"], group["counts"][...]
        assert np.array_equal(counts, np.arange(len(counts)) + 1000 * number)
        (name,) = (name for name, _ in group["series"].members())
        assert np.array_equal(group[f"series/{name}"][...], np.linspace(0, number, 40))
    assert len(list(root.groups())) == len(held)
    return {"assets": len(held)}


# Materializing.

CUT = {"chunks": (50, 3)}
ROWS, CHANNELS = 2000, 24


def recorded() -> "np.ndarray[tuple[int, int], np.dtype[np.int16]]":
    """Values of the recording that is materialized."""
    return np.random.default_rng(0).integers(-2000, 2000, (ROWS, CHANNELS)).astype("i2")


def materialize_recording(begin: Begin, references: str, out: str) -> None:
    begin()
    materialize(references, out, layout=lambda *_: CUT, max_memory=2**20)


def look_at_materialized(folder: str) -> dict[str, int]:
    """Whatever has its name is whole."""
    made = [path for path in Path(folder).iterdir() if path.suffix != ".partial"]
    for path in made[-3:]:
        store = zarr.storage.ZipStore(path, mode="r") if path.suffix == ".zip" else path
        assert np.array_equal(zarr.open_group(store, mode="r")["data"][...], recorded())
    return {"whole": len(made)}


# A cache.

SOURCE = Source("https://example.org/a.nwb", 10**6, '"e"')


def cached(part: FileRange) -> bytes:
    return bytes((i * 7) % 251 for i in range(part.offset, part.stop))


def _parts(random_numbers: random.Random) -> list[FileRange]:
    return [FileRange(random_numbers.randrange(5000), random_numbers.randrange(1, 400)) for _ in range(20)]


def fill_cache(begin: Begin, folder: str, seed: str) -> None:
    cache, numbers = LocalCache(folder, max_size_bytes=3000), random.Random(seed)
    warnings.simplefilter("error")  # that it cannot be used is a warning
    begin()
    for _ in range(200):
        parts = _parts(numbers)
        cache.put_many(SOURCE, parts, [cached(part) for part in parts])


def look_at_cache(folder: str) -> dict[str, int]:
    """What the cache gives is right."""
    warnings.simplefilter("error")
    parts = _parts(random.Random())
    found = LocalCache(folder).get_many(SOURCE, parts)
    for part, data in zip(parts, found, strict=True):
        assert data is None or bytes(data) == cached(part)
    return {"found": sum(data is not None for data in found)}


# References that replace others. Version n has a hundred elements that are all n, by an index and inline.


def references(version: int, data: Path) -> Rfs:
    builder = RfsBuilder()
    builder.add_group("", {"version": version})
    for name in ("a", "b"):
        builder.add_array(name, shape=(100,), data_type="uint8", chunk_shape=(1,))
        entries = np.stack([np.full(100, version, "u8"), np.ones(100, "u8")], axis=-1)
        builder.add_index(name, str(data), entries)
    builder.add_array("held", shape=(100,), data_type="uint8", chunk_shape=(100,))
    builder.add_inline_chunk("held", (0,), bytes([version]) * 100)
    return builder.build()


def write_versions(begin: Begin, target: str, data: str) -> None:
    begin()
    for version in range(1, 21):
        write_rfs(references(version, Path(data)), target, inline_limit=50)


def look_at_references(target: str) -> dict[str, int]:
    """All values are of one version, which is the attributes'."""
    document = Path(target) / DOCUMENT_NAME if not target.endswith(".json") else Path(target)
    if not document.exists():
        return {"absent": 1}
    before = document.read_bytes()
    root = open_rfs(load_rfs(target))
    try:
        found = {int(value) for name in ("a", "b", "held") for value in np.unique(root[name][...])}
    except SourceNotFoundError:  # an index that only the old ones had
        if document.read_bytes() == before:
            raise
        return {"replaced meanwhile": 1}
    assert found == {root.attrs["version"]}
    return {"whole": 1}


def site(begin: Begin, folder: str) -> None:
    """Write the page of an output's catalogue."""
    from flows import site_commands

    begin()
    assert site_commands.write(folder) == 0


# A new HDF5 file.


def write_hdf5(begin: Begin, refs: str, out: str) -> None:
    rfs = load_rfs(refs)
    begin()
    to_hdf5(rfs, out, overwrite=True)
