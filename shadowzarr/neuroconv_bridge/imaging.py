"""roiextractors' images → virtual arrays: TIFF pages by an extractor's table of frames, and HDF5 datasets.

Frames become (frame, width, height), or (frame, width, height, plane), the order that NeuroConv writes.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from ..formats.neo_rawio.files import Files, UrlFor
from ..virtual import VirtualArray
from .reasons import NotVirtualizable

_NONE = 1
"""Of a TIFF page: no compression (TIFF 6.0, tag 259), and no predictor (tag 317)."""


@dataclass(frozen=True)
class _Pages:
    """Pages of TIFF files in the order in which an extractor shows them.

    Attributes
    ----------
    paths : list of str
        The files.
    files, numbers : numpy.ndarray
        Of each frame, plane after plane: which file, and which page of it.
    planes : int
        In each frame; 0 when frames have no such axis.
    """

    paths: list[str]
    files: np.ndarray[Any, Any]
    numbers: np.ndarray[Any, Any]
    planes: int


def imaging_array(extractor: Any, url_for: UrlFor | None) -> VirtualArray:
    """The images of an extractor, as NeuroConv writes them.

    Parameters
    ----------
    extractor : roiextractors.ImagingExtractor
    url_for : callable or None

    Raises
    ------
    NotVirtualizable
        When they are in no file as they are.
    """
    from roiextractors import Hdf5ImagingExtractor

    array = (
        _of_hdf5(extractor, url_for)
        if type(extractor) is Hdf5ImagingExtractor
        else _of_tiff(extractor, url_for)
    )
    return array.transpose(0, 2, 1) if array.ndim == 3 else array.transpose(0, 2, 1, 3)


def _of_hdf5(extractor: Any, url_for: UrlFor | None) -> VirtualArray:
    """A dataset of (channel, frame, row, column), of which roiextractors shows the first channel."""
    from ..formats.hdf5.generate import generate_rfs

    path = os.path.abspath(extractor.filepath)  # noqa: PTH100 - resolve() would follow links
    if url_for is None:
        rfs = generate_rfs(path, hdf5_section=False)
    else:
        rfs = generate_rfs(url_for(path), local_hdf5_path=path, hdf5_section=False)
    name = str(extractor._mov_field).strip("/")
    skipped = {entry["path"].strip("/"): entry["reason"] for entry in rfs.get("skipped", [])}
    if name in skipped:
        raise NotVirtualizable(skipped[name])
    array = VirtualArray.from_rfs(rfs, name)
    if array.shape[0] != 1 and array.chunk_shape[0] != 1:
        raise NotVirtualizable(
            f"chunks of /{name} hold {array.chunk_shape[0]} channels, of which one is shown"
        )
    return array[0]


def _of_tiff(extractor: Any, url_for: UrlFor | None) -> VirtualArray:
    pages = _pages(extractor)
    rows, columns = (int(extent) for extent in extractor.get_image_shape())
    files = Files(url_for)
    places, dtype = _locate(pages, (rows, columns), files)
    frames = len(places) // max(1, pages.planes)
    shape, edges = [frames, rows, columns], [1, rows, columns]
    if pages.planes:
        shape, edges = [*shape, pages.planes], [*edges, 1]
    return VirtualArray.from_chunks(places, shape=shape, dtype=dtype, chunk_shape=edges).with_sources(
        files.sources
    )


def _pages(extractor: Any) -> _Pages:
    """Which pages an extractor shows.

    Raises
    ------
    NotVirtualizable
        When it does not say, or shows parts of pages.
    """
    from roiextractors.imagingextractor import SampleSlicedImagingExtractor
    from roiextractors.multiimagingextractor import MultiImagingExtractor

    if isinstance(extractor, SampleSlicedImagingExtractor):
        found, each = _pages(extractor._parent_imaging), slice(extractor._start_sample, extractor._end_sample)
        if found.planes:
            raise NotVirtualizable("some frames of a volume were taken")
        return _Pages(found.paths, found.files[each], found.numbers[each], 0)
    if type(extractor).__name__ == "_FieldOfViewSlicedImagingExtractor":
        raise NotVirtualizable("frames are cropped out of pages, which hold more")
    if hasattr(extractor, "_frames_to_ifd_table"):
        return _in_table(extractor)
    if isinstance(extractor, MultiImagingExtractor) and not extractor.is_volumetric:
        return _joined([_pages(each) for each in extractor._imaging_extractors])
    if type(extractor).__name__ in (
        "_BrukerTiffSinglePlaneImagingExtractor",
        "_MicroManagerTiffImagingExtractor",
    ):
        count = int(extractor.get_num_samples())
        return _Pages([os.fspath(extractor.file_path)], np.zeros(count, int), np.arange(count), 0)
    raise NotVirtualizable(
        f"roiextractors' {type(extractor).__name__} does not say in which pages its frames are"
    )


def _in_table(extractor: Any) -> _Pages:
    table = extractor._frames_to_ifd_table
    planes = int(extractor.get_num_planes()) if extractor.is_volumetric else 0
    count = int(extractor.get_num_samples()) * max(1, planes)
    paths = [os.fspath(each) for each in _paths_of(extractor)]
    return _Pages(
        paths, table["file_index"][:count].astype(int), table["IFD_index"][:count].astype(int), planes
    )


def _paths_of(extractor: Any) -> Sequence[Any]:
    for name in ("_file_paths", "file_paths"):
        if hasattr(extractor, name):
            return list(getattr(extractor, name))
    raise NotVirtualizable(f"roiextractors' {type(extractor).__name__} does not say which files it reads")


def _joined(parts: list[_Pages]) -> _Pages:
    if any(part.planes for part in parts):
        raise NotVirtualizable("volumes that are joined")
    begins = np.cumsum([0, *(len(part.paths) for part in parts)])
    files = [part.files + begin for part, begin in zip(parts, begins, strict=False)]
    paths = [path for part in parts for path in part.paths]
    return _Pages(paths, np.concatenate(files), np.concatenate([part.numbers for part in parts]), 0)


def _locate(
    pages: _Pages, shape: tuple[int, int], files: Files
) -> tuple[list[tuple[str, int, int]], np.dtype[Any]]:
    """Where each page is, and the data type of all.

    Raises
    ------
    NotVirtualizable
        When a page is compressed, or in several pieces.
    """
    import tifffile

    places: list[tuple[str, int, int]] = [("", 0, 0)] * len(pages.files)
    types: set[np.dtype[Any]] = set()
    order = np.argsort(pages.files, kind="stable")
    for frames in np.split(order, np.flatnonzero(np.diff(pages.files[order])) + 1):
        if not len(frames):
            continue
        path = pages.paths[int(pages.files[frames[0]])]
        pieces = []
        with tifffile.TiffFile(path, _multifile=False) as tif:
            for number in pages.numbers[frames].tolist():
                page: Any = tif.pages[number].aspage()
                pieces.append(_piece(page, shape, Path(path).name))
                types.add(page.dtype.newbyteorder(tif.byteorder))
        url = files.place(path, max(offset + nbytes for offset, nbytes in pieces))
        for at, (offset, nbytes) in zip(frames.tolist(), pieces, strict=True):
            places[at] = (url, offset, nbytes)
    if len(types) != 1:
        raise NotVirtualizable(f"its pages are of {len(types)} data types")
    return places, types.pop()


def _piece(page: Any, shape: tuple[int, int], name: str) -> tuple[int, int]:
    """Offset and bytes of a page that lies in its file in one piece."""
    if page.compression != _NONE or page.predictor != _NONE:
        raise NotVirtualizable(f"page {page.index} of {name} is compressed ({page.compression.name})")
    if tuple(page.shape) != shape or page.dtype is None:
        raise NotVirtualizable(
            f"page {page.index} of {name} has the shape {page.shape}, and frames are cropped to {shape}"
        )
    if page.fillorder != 1 or not page.is_contiguous:
        raise NotVirtualizable(
            f"page {page.index} of {name} is stored in pieces, or its bits in another order"
        )
    return int(page.dataoffsets[0]), int(np.prod(shape)) * page.dtype.itemsize
