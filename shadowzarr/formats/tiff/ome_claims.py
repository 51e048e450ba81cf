"""What OME metadata claim, before tifffile takes it for true: numbers of planes, and names of other files.

tifffile makes a list of as many planes as the XML in a file's first description counts, so that a few hundred
bytes can ask for all memory. OME model 2016-06, elements Pixels, TiffData and UUID.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from pathlib import Path
from xml.etree import ElementTree

from ...errors import DamagedSourceError

MOST_PLANES = 2**24
"""Planes of an image, or of a file."""

_MOST_LABELS = 2**20
_COUNTS = ("IFD", "NumPlanes", "PlaneCount", "FirstT", "FirstZ", "FirstC")


def check_ome(xml: str) -> dict[str, str]:
    """Refuse OME metadata that count more than a file can hold.

    Parameters
    ----------
    xml : str
        The metadata.

    Returns
    -------
    dict of str to str
        UUIDs of the files that hold planes, by their names, as the metadata give both; without the file
        whose UUID is that of the metadata.

    Raises
    ------
    DamagedSourceError
        When a number is too large, or is none.
    """
    try:
        root = ElementTree.fromstring(xml)  # noqa: S314 - expat itself refuses entities that expand
    except ElementTree.ParseError:
        return {}  # tifffile then takes the file for one without such metadata
    own, uuids = root.attrib.get("UUID"), dict[str, str]()
    try:
        for element in root.iter():
            kind = element.tag.rpartition("}")[2]
            if kind == "Pixels":
                _check_most(math.prod(_sizes(element)), MOST_PLANES, "planes")
            elif kind == "TiffData":
                for name in _COUNTS:
                    _check_most(int(element.attrib.get(name, 0)), MOST_PLANES, name)
            elif kind == "UUID" and "FileName" in element.attrib and element.text != own:
                uuids[element.attrib["FileName"]] = element.text or ""
            elif kind.startswith("ModuloAlong") and "Start" in element.attrib:
                _check_most(_labels(element), _MOST_LABELS, "labels")
    except (ValueError, KeyError, OverflowError, ZeroDivisionError) as error:
        raise DamagedSourceError(f"its OME metadata cannot be understood: {error!r}") from error
    return uuids


def count_images(xml: str) -> int:
    """Number of images that OME metadata describe."""
    root = ElementTree.fromstring(xml)  # noqa: S314 - as above
    return sum(element.tag.endswith("Image") for element in root)


def with_uuid(xml: str, uuid: str) -> str:
    """The same metadata, as they would be in the file of a UUID."""
    root = ElementTree.fromstring(xml)  # noqa: S314 - as above
    root.set("UUID", uuid)
    return ElementTree.tostring(root, encoding="unicode")


def split(folder: Path, names: Iterable[str]) -> tuple[list[Path], list[str]]:
    """Which files of these names are there: those in a folder or below it; and names of those elsewhere."""
    inside: list[Path] = []
    outside: list[str] = []
    for name in names:
        path = (folder / name).resolve()
        if not path.is_file():
            continue
        if path.is_relative_to(folder.resolve()):
            inside.append(path)
        else:
            outside.append(name)
    return inside, outside


def _sizes(pixels: ElementTree.Element) -> Iterator[int]:
    for axis in "TZC":
        size = int(pixels.attrib.get(f"Size{axis}", 1))
        if size < 0:
            raise ValueError(f"Size{axis} is {size}")
        yield size


def _labels(along: ElementTree.Element) -> float:
    step = float(along.attrib.get("Step", 1))
    return abs((float(along.attrib["End"]) - float(along.attrib["Start"])) / step)


def _check_most(number: float, most: int, what: str) -> None:
    if not number <= most:
        raise DamagedSourceError(f"its OME metadata count {number:,} {what}; no more than {most:,} are read")
