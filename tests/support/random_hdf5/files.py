"""Random files: objects, attributes, links, and the properties of the file itself."""

from __future__ import annotations

import contextlib
import random
from dataclasses import dataclass
from pathlib import Path

import h5py
from hypothesis import strategies as st

from .attributes import Attribute, attributes, write_attribute
from .datasets import Dataset, datasets, write_dataset

NAMES = (
    "d",
    "c",
    "zarr.json",
    "0",
    "a b",
    "é",
    "%2F",
    "#x",
    "\\",
    "...",
    "c.0",
    "__array__",
    "漢字",
    "refs.json",
)
LINKS = ("hard", "soft", "relative", "dangling", "cycle", "external", "type", "soft to group")

REFUSED = ("version out of bounds", "unusual datatype", "filter returned failure")
"""What HDF5 says of a type that it does not write into a file of this format; the file goes without."""


@dataclass(frozen=True)
class File:
    """One file.

    Attributes
    ----------
    libver : tuple of str
        Bounds of the file's format, which decide about indexes, superblock and headers.
    userblock : int
        Bytes before the HDF5 file.
    track_order : bool
        Whether groups and attributes remember the order of creation.
    objects : list of (str, bool, Dataset)
        Name, whether in a group, and the dataset.
    attributes : list of (int, Attribute)
        Number of the object, and the attribute.
    links : list of str
        Kinds, one link each.
    """

    libver: tuple[str, str]
    userblock: int
    track_order: bool
    objects: list[tuple[str, bool, Dataset]]
    attributes: list[tuple[int, Attribute]]
    links: list[str]


@st.composite
def files(draw: st.DrawFn, *, most_datasets: int = 4) -> File:
    """Any file of a few datasets."""
    named = st.tuples(st.sampled_from(NAMES), st.booleans(), datasets())
    return File(
        draw(
            st.sampled_from((("earliest", "v108"), ("v108", "v110"), ("latest", "latest"), ("v110", "v114")))
        ),
        draw(st.sampled_from((0, 0, 0, 512, 2048))),
        draw(st.booleans()),
        draw(st.lists(named, min_size=1, max_size=most_datasets, unique_by=lambda each: each[:2])),
        draw(st.lists(st.tuples(st.integers(0, 9), attributes()), max_size=5)),
        draw(st.lists(st.sampled_from(LINKS), max_size=3, unique=True)),
    )


def write_file(path: Path, spec: File) -> dict[str, Dataset]:
    """Write a file; gives its datasets by path."""
    written: dict[str, Dataset] = {}
    with h5py.File(
        path, "w", libver=spec.libver, userblock_size=spec.userblock, track_order=spec.track_order
    ) as file:
        group = file.create_group("c/g é")
        targets: list[h5py.HLObject] = [file, group]
        for name, is_inside, dataset in spec.objects:
            parent = group if is_inside else file
            if name in parent:
                continue
            try:
                made = write_dataset(parent, name, dataset, list(targets))
            except (ValueError, OSError) as error:
                if any(each in str(error) for each in REFUSED):
                    if name in parent:
                        del parent[name]
                    continue
                raise
            targets.append(made)
            written[f"{parent.name}/{name}".lstrip("/")] = dataset
        for number, attribute in spec.attributes:
            try:
                write_attribute(targets[number % len(targets)], attribute, targets)
            except (ValueError, OSError) as error:
                if not any(each in str(error) for each in REFUSED):
                    raise
        for kind in spec.links:
            _add_link(file, kind, random.Random(len(written)), list(written) or ["c"])
    return written


def _add_link(file: h5py.File, kind: str, source: random.Random, paths: list[str]) -> None:
    name, target = f"link {kind}", source.choice(paths)
    with contextlib.suppress(
        OSError, RuntimeError, TypeError, KeyError, AttributeError
    ):  # of what h5py cannot open
        match kind:
            case "hard":
                file[f"c/{name}"] = file[target]
            case "soft":
                file[name] = h5py.SoftLink(target)
            case "relative":
                file[f"c/{name}"] = h5py.SoftLink("g é/../" if source.random() < 0.3 else "g é")
            case "dangling":
                file[name] = h5py.SoftLink("/nowhere")
            case "cycle":
                file[f"c/g é/{name}"] = file["c"]
                file[f"{name} soft"] = h5py.SoftLink(f"/{name} soft")
            case "external":
                file[name] = h5py.ExternalLink("elsewhere.h5", "/d")
            case "type":
                file[name] = h5py.string_dtype() if source.random() < 0.5 else file[target].dtype
            case _:
                file[name] = h5py.SoftLink("/c")
