import json
from collections.abc import Callable
from pathlib import Path

import h5py
import numpy as np
import pytest

from shadowzarr.errors import UnsupportedError, UsageError
from shadowzarr.formats.hdf5.generate import generate_rfs
from shadowzarr.formats.progress import GenerationEvent


@pytest.fixture
def rich(path: Path) -> Path:
    with h5py.File(path, "w") as f:
        f["b/z/x"] = np.arange(2000)
        f["b/a"] = "text"
        f.create_dataset("a", data=np.arange(4000), chunks=(10,))
        f["link"] = h5py.SoftLink("/b")
        f["ref"] = f["b/z/x"].ref
        f["type"] = np.dtype("i4")
        f["type"].attrs["lost"] = 1
        f["dangling"] = h5py.SoftLink("/no")
    return path


def test_groups_come_before_what_is_in_them(rich: Path) -> None:
    keys = [key for key in generate_rfs(rich)["refs"] if key.endswith("zarr.json")]
    assert keys == [
        "zarr.json",
        "a/zarr.json",
        "b/zarr.json",
        "b/a/zarr.json",
        "b/z/zarr.json",
        "b/z/x/zarr.json",
        "ref/zarr.json",
    ]


def test_the_same_file_gives_the_same_document(rich: Path) -> None:
    def text() -> str:
        return json.dumps(generate_rfs(rich), default=np.ndarray.tolist)

    assert text() == text()


def test_every_document_is_strict_json(rich: Path) -> None:
    for key, value in generate_rfs(rich)["refs"].items():
        if key.endswith("zarr.json"):
            json.loads(value, parse_constant=lambda token: pytest.fail(token))


def test_what_is_left_out_or_changed_is_named(generate: Callable, rich: Path) -> None:
    made = generate()
    assert set(made.skipped()) == {"/dangling"}
    assert "committed data type" in made.converted()["/type"]
    with pytest.raises(UnsupportedError, match="/dangling: a soft link"):
        generate(on_unsupported="error")


def test_options_are_checked(rich: Path) -> None:
    with pytest.raises(UsageError, match='expected "copy", "skip" or "error"'):
        generate_rfs(rich, on_unsupported="ignore")  # type: ignore[arg-type]


def test_progress(rich: Path) -> None:
    events: list[GenerationEvent] = []
    rfs = generate_rfs(rich, progress=events.append)
    assert [event.stage for event in events if event.stage not in ("datasets", "attributes")] == [
        "open",
        "inventory",
        "done",
    ]
    last = events[-1]
    assert last.stage == "done"
    assert last.objects == 7
    assert last.chunks == 400 + 1 + 1 + 1
    assert last.bytes == 8 * 6000
    assert (last.requests, last.bytes_read) == (0, 0)
    assert [event.objects for event in events if event.stage == "datasets"] == list(range(1, 9))
    assert "a/zarr.json" in rfs["refs"]


def test_a_local_copy_stands_in_for_a_url(rich: Path, tmp_path: Path) -> None:
    copy = tmp_path / "copy.h5"
    copy.write_bytes(rich.read_bytes())
    rfs = generate_rfs(rich, local_hdf5_path=copy)
    assert list(rfs["sources"]) == [str(rich)]
    copy.write_bytes(rich.read_bytes() + b"\0")
    from shadowzarr.errors import SourceChangedError

    with pytest.raises(SourceChangedError, match="not a copy"):
        generate_rfs(rich, local_hdf5_path=copy)


def test_many_chunks_do_not_take_quadratic_time(path: Path, generate: Callable) -> None:
    with h5py.File(path, "w") as f:
        f.create_dataset("d", data=np.arange(40_000, dtype="u1"), chunks=(1,))
    made = generate()
    assert made.rfs["indexes"]["d"]["index"].shape == (40_000, 2)
    assert made.root["d"][39_990:].tolist() == (np.arange(39_990, 40_000) % 256).tolist()
