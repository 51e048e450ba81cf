"""The pages of a level: that they are all there, stored alike, and which files they are in."""

from __future__ import annotations

import contextlib
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from operator import attrgetter
from typing import Any

import numpy as np
import numpy.typing as npt

from ..cannot_represent import CannotRepresentError
from .keyframe import page_layout, segment_form
from .reasons import NotInPlaceError, reading
from .segments import Segments
from .stored_file import StoredFile
from .stored_files import StoredFiles


@dataclass(frozen=True, slots=True)
class LevelPages:
    """Pages of a level.

    Attributes
    ----------
    count : int
        How many it has, those that are missing included.
    numbers : numpy.ndarray
        intp, which of them are there.
    pages : list of TiffPage or TiffFrame
        Those that are there.
    files : tuple of StoredFile
        The files they are in.
    file : numpy.ndarray or None
        Number of the file of each of them; None when there is one file.
    """

    count: int
    numbers: npt.NDArray[np.intp]
    pages: list[Any]
    files: tuple[StoredFile, ...]
    file: npt.NDArray[np.intp] | None

    @property
    def missing(self) -> int:
        """How many are not there, which tifffile shows as 0."""
        return self.count - len(self.pages)

    def remarks(self) -> tuple[str, ...]:
        """What a user should know of pages that are not there."""
        if not self.missing:
            return ()
        return (f"{self.missing:,} of {self.count:,} pages are not there; they read as 0, as by tifffile",)

    def file_of(self, page: int) -> StoredFile:
        """The file of a page, by its number among those that are there."""
        return self.files[0 if self.file is None else int(self.file[page])]

    def check_inside(self, segments: Segments) -> None:
        """Refuse segments that lie past the end of their file.

        Raises
        ------
        CannotRepresentError
            Naming the first of them.
        """
        for number, file in enumerate(self.files):
            own = slice(None) if self.file is None else self.file == number
            part = Segments(segments.offsets[own], segments.counts[own])
            part.check_inside(file.size, self.numbers[own].tolist())

    def spread(self, values: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """Values of each page that is there, as values of all pages: 0 for those that are missing."""
        if not self.missing:
            return values
        spread = np.zeros((self.count, *values.shape[1:]), values.dtype)
        spread[self.numbers] = values
        return spread


def gather_pages(level: Any, count: int, files: StoredFiles) -> LevelPages:
    """Take the pages of a level.

    Parameters
    ----------
    level : TiffPageSeries
        The level.
    count : int
        Pages that its shape asks for.
    files : StoredFiles
        The files.

    Raises
    ------
    CannotRepresentError
        When they are not so many, or some are stored in another way without tifffile knowing it.
    NotInPlaceError
        When they differ in a way that tifffile knows.
    """
    with reading():
        listed = list(level)
    pages = [page for page in listed if page is not None]
    if len(listed) != count or not pages:
        raise CannotRepresentError(f"its shape asks for {count:,} pages; tifffile finds {len(pages):,}")
    numbers = np.flatnonzero([page is not None for page in listed])
    if level.is_multifile:
        found = LevelPages(count, numbers, pages, *_files_of(pages, files))
    else:
        found = LevelPages(count, numbers, pages, (files.of(level.keyframe.parent),), None)
    _check_alike(level, found)
    return found


def page_values(page: Any) -> npt.NDArray[Any]:
    """A whole page as tifffile reads it, also when its file is closed; shape of 5 axes."""
    handle = page.parent.filehandle
    with contextlib.ExitStack() as stack, warnings.catch_warnings():
        if handle.closed:
            handle.open()
            stack.callback(handle.close)
        return np.asarray(page.asarray(squeeze=False, maxworkers=1))


def _files_of(
    pages: Sequence[Any], files: StoredFiles
) -> tuple[tuple[StoredFile, ...], npt.NDArray[np.intp]]:
    parents = list(map(attrgetter("parent"), pages))
    stored = {parent: files.of(parent) for parent in dict.fromkeys(parents)}
    numbers = {id(file): number for number, file in enumerate({id(f): f for f in stored.values()}.values())}
    places = {parent: numbers[id(file)] for parent, file in stored.items()}
    unique = tuple({id(file): file for file in stored.values()}.values())
    return unique, np.array([places[parent] for parent in parents], np.intp)


def _check_alike(level: Any, found: LevelPages) -> None:
    """Refuse pages that tifffile would read as if they were stored like the first."""
    if len(set(map(attrgetter("jpegtables"), found.pages))) > 1:
        raise NotInPlaceError("its pages have JPEG tables of their own")
    places = np.array(list(map(attrgetter("offset"), found.pages)), np.int64)
    for number, file in enumerate(found.files):
        own = np.arange(len(places)) if found.file is None else np.flatnonzero(found.file == number)
        unlike = file.directories.unlike_first(places[own].tolist())
        if unlike is not None:
            raise CannotRepresentError(
                f"page {int(found.numbers[own[unlike]])} of it is stored in another way than the first, and "
                "tifffile reads it as if it were not"
            )
    if len(found.files) > 1:
        keyframes = dict.fromkeys(map(attrgetter("keyframe"), found.pages))
        if len({segment_form(each, page_layout(each)) for each in keyframes}) > 1:
            raise NotInPlaceError("its files store their pages in different ways")
