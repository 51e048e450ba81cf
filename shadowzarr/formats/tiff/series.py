"""One series or pyramid level → an array and its chunks.

What the bytes are is decided by `compressions`, where they are by `segments`, how they are cut by
`page_layout`; here these come together, and whatever cannot be right is refused with its reason. Nothing is
handed to the builder.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from ...refs.data_types import DataType, data_type_of
from ...refs.slabs import CONTIGUOUS_CHUNK_BYTES
from ...tiff_segments.one_segment_file import SegmentForm
from ..cannot_represent import CannotRepresentError
from .chunks import Chunks, Listed, Spaced
from .compressions import Codecs, codec_chains, compression_name, is_exact, is_own, is_plain, row_nbytes
from .keyframe import check_level, fill_value, page_layout, segment_form
from .level_pages import LevelPages, gather_pages, page_values
from .page_layout import PageLayout, Placement, pieces_nbytes, place_page, slab_rows
from .reasons import NotInPlaceError, reading
from .segments import Segments, in_one_piece, read_segments
from .stored_files import StoredFiles
from .trial import MOST_TRIED, Sample, gives_same, samples_of

MOST_SEGMENT = 2**31
"""Bytes of a decoded segment, above which no reader can be expected to hold one."""


_NOWHERE = "a page has no place in the file, and tifffile shows other bytes of the file for it"


@dataclass(frozen=True, slots=True)
class LevelPlan:
    """An array of the document.

    Attributes
    ----------
    shape, chunk_shape : tuple of int
        Of the array.
    data_type, fill_value, codecs
        As ``zarr.json`` has them.
    chunks : Spaced, Listed or Held
        Where its chunks are.
    converted : tuple of str
        What is not as in the file, for people.
    """

    shape: tuple[int, ...]
    chunk_shape: tuple[int, ...]
    data_type: DataType
    fill_value: Any
    codecs: Codecs
    chunks: Chunks
    converted: tuple[str, ...] = ()


def plan_level(level: Any, files: StoredFiles) -> LevelPlan:
    """Describe a level by references alone.

    Parameters
    ----------
    level : TiffPageSeries
        A series, or one level of it.
    files : StoredFiles
        The files its pages are in.

    Raises
    ------
    CannotRepresentError
        When its values are not to be had at all, with the reason.
    NotInPlaceError
        When they are not to be had from the file as they are.
    """
    check_level(level)
    if level.keyframe.samplesperpixel < 1:
        raise NotInPlaceError("its pixels have 0 samples, and tifffile reads them as if they had one")
    if level.transform is not None:
        raise NotInPlaceError("tifffile computes its values from those stored")
    with reading():
        start = None if level.is_multifile else level.dataoffset
    layout = page_layout(level.keyframe)
    if start is not None:
        return _run_plan(level, layout.whole(), files, int(start))
    if level.keyframe.jpegheader is not None:
        raise NotInPlaceError(
            "its JPEG tiles share a header (NDPI), and tifffile decodes all of them at once"
        )
    count = math.prod(_placed(level, layout).lead)
    pages = gather_pages(level, count, files)
    if level.keyframe.is_contiguous:
        return _whole_pages_plan(level, layout, pages)
    return _segments_plan(level, layout, pages)


def _run_plan(level: Any, page: PageLayout, files: StoredFiles, start: int) -> LevelPlan:
    """A level that lies in the file in one piece; its pages may have no directories of their own."""
    file, itemsize = files.of(level.keyframe.parent), level.keyframe.dtype.itemsize
    total = math.prod(map(int, level.shape)) * itemsize
    if start < 1:
        raise CannotRepresentError(_NOWHERE)
    if start + total > file.size:
        raise CannotRepresentError(
            f"its values would be bytes {start:,} to {start + total:,} of a file of {file.size:,}: the file "
            "is truncated or damaged"
        )
    nbytes = math.prod(page.shape) * itemsize
    count = math.prod(_placed(level, page).lead)
    endian = segment_form(level.keyframe, page).byteorder
    codecs = [{"name": "bytes", "configuration": {"endian": endian}}]
    fill = fill_value(level.keyframe, is_zero=False)
    return _plan(level, page, codecs, Spaced(file.source.url, start, nbytes, count, nbytes), fill)


def _whole_pages_plan(level: Any, layout: PageLayout, pages: LevelPages) -> LevelPlan:
    """A level of uncompressed pages, each in one piece."""
    keyframe, page = level.keyframe, layout.whole()
    if keyframe.is_subsampled:
        raise CannotRepresentError(
            "its chrominance is subsampled and not compressed, which tifffile cannot read"
        )
    strips = read_segments(pages.pages, math.prod(layout.grid))
    if not bool(strips.offsets[:, 0].all()):
        raise CannotRepresentError(_NOWHERE)
    needed = pieces_nbytes(layout, row_nbytes(segment_form(keyframe, layout)))
    whole = in_one_piece(strips, needed)
    if not bool(whole.all()):
        raise CannotRepresentError(
            f"page {int(pages.numbers[np.flatnonzero(~whole)[0]])} of it is not in one piece as the first "
            "is, and tifffile reads it as if it were"
        )
    nbytes = math.prod(page.shape) * keyframe.dtype.itemsize
    segments = Segments(strips.offsets[:, :1], np.full((len(pages.pages), 1), nbytes, np.uint64))
    pages.check_inside(segments)

    def decode(number: int, _segment: int, _data: bytearray) -> npt.NDArray[Any]:
        return page_values(pages.pages[number])

    form = segment_form(keyframe, page)
    codecs = _codecs(level, page, form, _Trial(segments, pages, decode, tuple(keyframe.shaped)))
    plan = _plan(level, page, codecs, _listed(segments, pages), _fill(level, segments, pages))
    return replace(plan, converted=pages.remarks())


def _segments_plan(level: Any, layout: PageLayout, pages: LevelPages) -> LevelPlan:
    """A level whose strips or tiles are chunks."""
    keyframe, form = level.keyframe, segment_form(level.keyframe, layout)
    nbytes = math.prod(form.shape) * keyframe.dtype.itemsize
    if nbytes > MOST_SEGMENT:
        raise CannotRepresentError(f"a strip or tile of it holds {nbytes:,} bytes of values")
    segments = read_segments(pages.pages, math.prod(layout.grid))
    if form.compression == 1:
        segments = _cut_to_needed(segments, pieces_nbytes(layout, row_nbytes(form)))
    pages.check_inside(segments)

    def decode(number: int, segment: int, data: bytearray) -> npt.NDArray[Any]:
        tables = pages.pages[number].jpegtables
        values, (_, depth, row, column, _), _ = keyframe.decode(data, segment, jpegtables=tables)
        inside = values[
            : keyframe.imagedepth - depth, : keyframe.imagelength - row, : keyframe.imagewidth - column
        ]
        return np.asarray(inside.astype(keyframe.dtype))  # as they become when they are put into a page

    codecs = _codecs(level, layout, form, _Trial(segments, pages, decode, form.shape))
    plan = _plan(level, layout, codecs, _listed(segments, pages), _fill(level, segments, pages))
    return replace(plan, converted=pages.remarks())


def _cut_to_needed(segments: Segments, needed: npt.NDArray[np.uint64]) -> Segments:
    """Uncompressed segments without what follows their values.

    Raises
    ------
    NotInPlaceError
        When one has fewer bytes than its values need.
    """
    short = segments.written & (segments.counts < needed)
    if short.any():
        page, segment = np.argwhere(short)[0]
        raise NotInPlaceError(
            f"segment {segment} of page {page} has {int(segments.counts[page, segment]):,} bytes, its values "
            f"need {int(needed[segment]):,}"
        )
    return Segments(segments.offsets, np.where(segments.written, needed, 0).astype(np.uint64))


@dataclass(frozen=True, slots=True)
class _Trial:
    """What codecs are tried on, and who knows what they should give."""

    segments: Segments
    pages: LevelPages
    decode: Any
    shape: tuple[int, ...]

    def samples(self) -> list[Sample]:
        def read(page: int, offset: int, length: int) -> bytes:
            return self.pages.file_of(page).read(offset, length)

        return list(samples_of(self.segments, self.decode, read))


def _codecs(level: Any, layout: PageLayout, form: SegmentForm, trial: _Trial) -> Codecs:
    """The first chain of codecs that gives what tifffile gives.

    Raises
    ------
    NotInPlaceError
        When none does.
    CannotRepresentError
        When tifffile itself cannot decode a segment.
    """
    placement = _placed(level, layout)
    column = placement.places[layout.axes.index("X")]
    x_axis = -1 if column is None else column - len(level.shape)
    is_planar = level.keyframe.planarconfig != 1 and level.keyframe.samplesperpixel > 1
    chains = codec_chains(form, x_axis=x_axis, is_jfif=bool(level.keyframe.is_jfif), planar=is_planar)
    if layout.is_whole and is_plain(chains[0]):
        return chains[0]
    if math.prod(trial.shape) * level.keyframe.dtype.itemsize > MOST_TRIED:
        return next(chain for chain in chains if is_exact(chain) or is_own(chain))
    samples = trial.samples()
    for chain in chains:
        if all(gives_same(chain, sample, trial.shape, placement.chunk_shape) for sample in samples):
            return chain
    raise NotInPlaceError(
        f"no codec decodes it as tifffile does ({compression_name(form.compression)}, "
        f"{'/'.join(map(str, form.bits_per_sample))} bits, predictor {form.predictor})"
    )


def _plan(level: Any, layout: PageLayout, codecs: Codecs, chunks: Spaced | Listed, fill: Any) -> LevelPlan:
    """Put chunks of segments or of whole pages into the axes of the level; large pages become slabs."""
    shape, itemsize = tuple(map(int, level.shape)), level.keyframe.dtype.itemsize
    if isinstance(chunks, Listed):
        chunks = chunks.simplified()
    if layout.is_whole and is_plain(codecs):
        rows = slab_rows(layout, chunks.pages, itemsize, CONTIGUOUS_CHUNK_BYTES)
        if rows is not None:
            layout = layout.cut(rows)
            chunks = chunks.cut(math.prod(layout.edges) * itemsize, math.prod(layout.grid))
    placement = _placed(level, layout)
    return LevelPlan(shape, placement.chunk_shape, data_type_of(level.keyframe.dtype), fill, codecs, chunks)


def _listed(segments: Segments, pages: LevelPages) -> Listed:
    """Segments of all pages one after the other."""
    per_page = segments.offsets.shape[1]
    lengths = np.where(segments.written, segments.counts, 0).astype(np.uint64)
    offsets = np.where(segments.written, segments.offsets, 0).astype(np.uint64)
    file = None if pages.file is None else np.repeat(pages.spread(pages.file), per_page)
    return Listed(
        tuple(each.source.url for each in pages.files),
        pages.spread(offsets).reshape(-1),
        pages.spread(lengths).reshape(-1),
        file,
    )


def _fill(level: Any, segments: Segments, pages: LevelPages) -> Any:
    """What tifffile shows where nothing was written.

    Raises
    ------
    NotInPlaceError
        When it shows one thing for missing pages and another for missing segments.
    """
    nodata = fill_value(level.keyframe, is_zero=False)
    if not pages.missing:
        return nodata
    zero = fill_value(level.keyframe, is_zero=True)
    if nodata != zero and not bool(segments.written.all()):
        raise NotInPlaceError(f"missing pages of it read as 0, and missing parts of pages as {nodata}")
    return zero


def _placed(level: Any, layout: PageLayout) -> Placement:
    placement = place_page(tuple(map(int, level.shape)), layout)
    if placement is None:
        raise NotInPlaceError(
            f"its shape {tuple(level.shape)} is not made of pages of shape {layout.shape}, cut into "
            f"{layout.edges}"
        )
    return placement
