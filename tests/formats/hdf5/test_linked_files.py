"""Links from file to file: what they lead to is at the link's path, referenced in its own file."""

import contextlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pytest

from shadowzarr.formats.hdf5 import linked_files
from shadowzarr.formats.hdf5.generate import generate_rfs
from shadowzarr.formats.hdf5.linked_files import LinkedFiles, Place
from shadowzarr.formats.hdf5.opening import open_source
from shadowzarr.formats.hdf5.other_files import MissingFileError
from shadowzarr.verify import verify_rfs

LARGE = np.arange(1000, dtype="i8")


@pytest.fixture
def other(path: Path) -> Path:
    """A file beside the one that is described."""
    other = path.with_name("other.h5")
    with h5py.File(other, "w") as f:
        f["pad"] = np.zeros(500)
        f.create_dataset("g/x", data=LARGE, chunks=(100,))
        f["g/x"].attrs["unit"] = "mV"
        f["g/again"] = h5py.SoftLink("x")
        f["g/far"] = h5py.SoftLink("/pad")
        f["g/sub/y"] = f["g/x"]
        f["g"].attrs["to_x"] = f["g/x"].ref
        f["g"].attrs["to_pad"] = f["pad"].ref
        f["g/up"] = f["g"]
    return other


def link(path: Path, **links: tuple[str, str]) -> None:
    with h5py.File(path, "w") as f:
        f.create_dataset("own", data=LARGE + 1, chunks=(100,))
        for name, (file, target) in links.items():
            f[name] = h5py.ExternalLink(file, target)


def is_equal(path: Path, made: Any, **options: Any) -> bool:
    report = verify_rfs(made.rfs, mode="full", **options)
    assert report.equal, report.differences
    return True


def test_a_group_of_another_file(path: Path, other: Path, generate: Callable) -> None:
    link(path, ext=("other.h5", "/g"))
    made = generate()
    assert made["ext/sub/y" if "ext/sub/y" in made.root else "ext/x"].tolist() == LARGE.tolist()
    assert made.rfs["sources"] == {
        str(path): {"size": path.stat().st_size},
        str(other): {"size": other.stat().st_size, "linked": True},
    }
    urls = {value[0] for value in made.chunks("ext/x").values()}
    assert {made.rfs["templates"][url.strip("{}")] for url in urls} == {str(other)}
    assert made.attributes("ext")["to_x"] == {"_REFERENCE": {"source": ".", "path": "/ext/x"}}
    assert made.attributes("ext/x") == {"unit": "mV", "_DTYPE": "int64"}
    links = {entry["name"]: entry["path"] for entry in made.attributes("ext")["_LINKS"]}
    assert links == {"again": "/ext/x", "up": "/ext"}
    skipped = made.skipped()
    assert set(skipped) == {"/ext/far", "/ext@to_pad"}
    assert "/pad of the file other.h5" in skipped["/ext@to_pad"]
    assert is_equal(path, made)


def test_the_same_object_linked_twice_is_one_node(path: Path, other: Path, generate: Callable) -> None:
    link(
        path, a=("other.h5", "/g/x"), b=("./other.h5", "/g"), c=(str(other), "/g"), d=("other.h5", "g/again")
    )
    made = generate()
    assert "a" in made.root
    assert made.attributes()["_LINKS"] == [
        {"name": "c", "source": ".", "path": "/b"},
        {"name": "d", "source": ".", "path": "/a"},
    ]
    assert {"name": "x", "source": ".", "path": "/a"} in made.attributes("b")["_LINKS"]
    assert is_equal(path, made)


def test_soft_links_through_links_into_other_files(path: Path, other: Path, generate: Callable) -> None:
    link(path, ext=("other.h5", "/g"))
    with h5py.File(path, "a") as f:
        f["soft"] = h5py.SoftLink("/ext/again")
    made = generate()
    assert {"name": "soft", "source": ".", "path": "/ext/x"} in made.attributes()["_LINKS"]
    assert is_equal(path, made)


def test_links_back_and_in_a_circle_end(path: Path, generate: Callable) -> None:
    link(path, ext=("other.h5", "/"), itself=(path.name, "/own"), loop=(path.name, "/loop"))
    with h5py.File(path.with_name("other.h5"), "w") as f:
        f["back"] = h5py.ExternalLink(path.name, "/")
        f["own"] = h5py.ExternalLink(path.name, "/own")
        f["round"] = h5py.ExternalLink("third.h5", "/round")
    with h5py.File(path.with_name("third.h5"), "w") as f:
        f["round"] = h5py.ExternalLink("other.h5", "/round")
    made = generate()
    assert {entry["name"]: entry["path"] for entry in made.attributes("ext")["_LINKS"]} == {
        "back": "/",
        "own": "/own",
    }
    assert made.attributes()["_LINKS"] == [{"name": "itself", "source": ".", "path": "/own"}]
    assert set(made.skipped()) == {"/loop", "/ext/round"}
    assert list(made.rfs["sources"]) == [str(path), str(path.with_name("other.h5"))]
    assert is_equal(path, made)


def test_a_chain_of_files_is_followed_so_far(
    path: Path, generate: Callable, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(linked_files, "MAX_DEPTH", 3)
    link(path, next=("1.h5", "/"))
    for number in range(1, 6):
        link(path.with_name(f"{number}.h5"), next=(f"{number + 1}.h5", "/"))
    made = generate()
    assert made["next/next/next/own"].tolist() == (LARGE + 1).tolist()
    (reason,) = [reason for at, reason in made.skipped().items() if at == "/next/next/next/next"]
    assert "more than 3 times" in reason
    assert is_equal(path, made)


def test_so_many_files_are_opened(path: Path, generate: Callable, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(linked_files, "MAX_FILES", 2)
    for name in "abc":
        link(path.with_name(f"{name}.h5"))
    link(path, **{name: (f"{name}.h5", "/own") for name in "abc"})
    made = generate()
    assert "more than 2 files" in made.skipped()["/c"]
    assert is_equal(path, made)


@pytest.mark.parametrize(
    ("name", "target", "reason"),
    [
        ("missing.h5", "/x", "is not there"),
        ("other.h5", "/g/nothing", "nothing is at /g/nothing"),
        ("text.h5", "/x", "not an HDF5 file"),
        ("damaged.h5", "/x", "damaged"),
        ("../elsewhere/o.h5", "/x", "outside the folder"),
        ("/etc/hostname", "/x", "outside the folder"),
    ],
)
def test_links_that_are_left_out(
    path: Path, other: Path, generate: Callable, name: str, target: str, reason: str
) -> None:
    link(path, ext=(name, target))
    path.with_name("text.h5").write_text("x" * 1000)
    path.with_name("damaged.h5").write_bytes(other.read_bytes()[:600])
    elsewhere = path.parent.parent / "elsewhere"
    elsewhere.mkdir(exist_ok=True)
    link(elsewhere / "o.h5")
    made = generate()
    assert set(made.skipped()) == {"/ext"}
    assert reason in made.skipped()["/ext"]
    assert len(made.rfs["sources"]) == 1
    assert is_equal(path, made)


def test_outside_the_folder_when_allowed(path: Path, generate: Callable) -> None:
    elsewhere = path.parent.parent / f"{path.parent.name}_elsewhere"
    elsewhere.mkdir()
    link(elsewhere / "o.h5", beside=("p.h5", "/own"))
    link(elsewhere / "p.h5")
    link(path, ext=(f"../{elsewhere.name}/o.h5", "/"))
    made = generate(allow_external=True)
    assert made["ext/beside"].tolist() == (LARGE + 1).tolist()
    assert is_equal(path, made, allow_external=True)
    report = verify_rfs(made.rfs)
    assert ("/ext", "not to be judged") in [(each.path, each.kind) for each in report.differences]


def test_the_hdf5_section_keeps_the_link(path: Path, other: Path, generate: Callable) -> None:
    link(path, ext=("other.h5", "/g"))
    links = generate().rfs["hdf5"]["objects"]["/"]["links"]
    assert links["ext"] == {"class": "H5L_TYPE_EXTERNAL", "h5path": "/g", "file": "other.h5"}
    assert "/ext" not in generate().rfs["hdf5"]["objects"]


def test_a_linked_file_with_a_user_block(path: Path, generate: Callable) -> None:
    with h5py.File(path.with_name("block.h5"), "w", userblock_size=512) as f:
        f["x"] = LARGE
    link(path, ext=("block.h5", "/x"))
    made = generate()
    assert made["ext"].tolist() == LARGE.tolist()
    assert not made.is_inline("ext")


def test_references_in_a_dataset_of_a_linked_file(path: Path, generate: Callable) -> None:
    with h5py.File(path.with_name("refs.h5"), "w") as f:
        f["g/x"], f["out"] = LARGE, LARGE
        for name, target in (("inside", f["g/x"]), ("outside", f["out"])):
            f.create_dataset(f"g/{name}", (1,), h5py.ref_dtype)[0] = target.ref
    link(path, ext=("refs.h5", "/g"))
    made = generate()
    assert made["ext/inside"].tolist() == ["/ext/x"]
    assert "to which no link leads" in made.skipped()["/ext/outside"]
    assert is_equal(path, made)


def test_a_linked_file_that_was_replaced_is_noticed(path: Path, other: Path) -> None:
    link(path, ext=("other.h5", "/g"))
    rfs = generate_rfs(path)
    with other.open("ab") as file:
        file.write(b"more")
    report = verify_rfs(rfs, mode="full")
    assert {each.path for each in report.differences} == {"/ext/x"}
    assert "SourceChangedError" in report.differences[0].references


def test_axes_of_a_linked_dataset_are_named_by_its_own_scales(path: Path, generate: Callable) -> None:
    with h5py.File(path.with_name("scales.h5"), "w") as f:
        f["g/x"], f["g/time"], f["space"] = np.zeros((3, 2)), np.arange(3), np.arange(2)
        for axis, name in enumerate(("g/time", "space")):
            f[name].make_scale()
            f["g/x"].dims[axis].attach_scale(f[name])
    link(path, ext=("scales.h5", "/g"))
    made = generate()
    assert made.metadata("ext/x")["dimension_names"] == ["time", "space"]
    assert is_equal(path, made)


@pytest.fixture
def files(path: Path) -> Iterator[LinkedFiles]:
    with h5py.File(path, "w") as f:
        f["z/deep/x"] = np.arange(3)
        f["short"] = f["z/deep/x"]
        f["z/soft"] = h5py.SoftLink("/z/deep")
        f["z/through"] = h5py.SoftLink("/z/soft/x")
        f["z/dangling"] = h5py.SoftLink("/nowhere")
        f["z/loop"] = h5py.SoftLink("/z/loop")
        f["z/up"] = f["/"]
        f["ext"] = h5py.ExternalLink("missing.h5", "/a")
    with contextlib.ExitStack() as stack:
        opened = stack.enter_context(open_source(path, None))
        yield LinkedFiles(opened, stack, allow_external=False)


def place(files: LinkedFiles, path: str) -> Place:
    objects = files.first.inventory.objects.values()
    return Place(files.first, next(item for item in objects if item.path == path))


@pytest.mark.parametrize(
    ("target", "where"),
    [
        ("/z/deep", "z/deep"),
        ("deep/./x", "short"),
        ("/z/soft/x", "short"),
        ("/z/up/z/up/short", "short"),
        ("/", ""),
        ("up", ""),
        ("//z//deep/", "z/deep"),
    ],
)
def test_following_paths(files: LinkedFiles, target: str, where: str) -> None:
    resolved = files.resolve(place(files, "z"), target)
    assert resolved is not None
    assert resolved.found.path == where


@pytest.mark.parametrize("target", ["/nowhere", "loop", "dangling", "/short/below"])
def test_paths_that_lead_nowhere(files: LinkedFiles, target: str) -> None:
    assert files.resolve(place(files, "z"), target) is None


@pytest.mark.parametrize("target", ["/ext", "/ext/b"])
def test_paths_through_a_file_that_is_not_there(files: LinkedFiles, target: str) -> None:
    with pytest.raises(MissingFileError):
        files.resolve(place(files, "z"), target)
