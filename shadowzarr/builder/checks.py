"""What a builder is given: is it possible? Each answers with the argument, what was found and what fits.

Called for every chunk, so the usual case is a few comparisons; messages are made only when one fails.
"""

from __future__ import annotations

import operator
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from ..errors import UsageError
from ..refs.array_layout import ArrayLayout
from ..refs.chunk_index import MISSING
from ..refs.data_types import DataType, item_nbytes
from ..refs.document import IndexArray, SelectionEntry
from ..refs.node_checks import LARGEST, codec_name
from ..refs.selection import Selection, selected_length
from ..refs.zarr_metadata import chunk_shape_of
from .parts import ArrayPart, ChunkRun

Coordinates = tuple[int, ...]


def check_path(path: Any) -> None:
    """Refuse what is no path of a node: text without a slash at its ends."""
    if not isinstance(path, str):
        raise UsageError(f"path is {_shown(path)}; expected text such as 'group/array', '' for the root")
    if path and (path[0] == "/" or path[-1] == "/" or "//" in path):
        raise UsageError(f"path {path!r}: expected names with one slash between them, and none at the ends")
    if not {".", ".."}.isdisjoint(path.split("/")):
        raise UsageError(f"path {path!r}: no node of Zarr is named '.' or '..'")
    check_text(path, "path")


def check_text(value: Any, argument: str, path: str | None = None) -> str:
    """Text that a JSON document can hold."""
    of_array = "" if path is None else f" of array {path!r}"
    if not isinstance(value, str):
        raise UsageError(f"{argument}{of_array} is {_shown(value)}; expected text")
    try:
        value.encode()
    except UnicodeEncodeError:
        raise UsageError(
            f"{argument}{of_array} is {_shown(value)}, which has half a surrogate pair and no form in JSON"
        ) from None
    return value


def check_url(url: Any, what: str) -> str:
    """A URL, or path, of a file; names that are no UTF-8 are fine until a document with them is written."""
    if not isinstance(url, str) or not url:
        raise UsageError(f"url of {what} is {_shown(url)}; expected a URL or path")
    return url


def checked_attributes(attributes: Any, path: str) -> Mapping[str, Any]:
    """Attributes, if they are a mapping; none for None."""
    if attributes is None:
        return {}
    if not isinstance(attributes, Mapping):
        raise UsageError(
            f"attributes of {path!r} are {_shown(attributes)}; expected a mapping of names to values"
        )
    return attributes


def numbers(values: Any, argument: str, path: str, *, least: int = 0) -> Coordinates:
    """Whole numbers, as Python's."""
    try:
        found = tuple(_whole(value) for value in values)
    except TypeError:
        raise UsageError(
            f"{argument} of array {path!r} is {_shown(values)}; expected whole numbers"
        ) from None
    for value in found:
        if not least <= value <= LARGEST:
            rule = f"be at least {least}" if least else "not be negative"
            rule = "be below 2**63" if value > LARGEST else rule
            raise UsageError(f"{argument} of array {path!r} is {found}; a number must {rule}")
    return found


def _whole(value: Any) -> int:
    if isinstance(value, bool | np.bool_):
        raise TypeError
    return operator.index(value)


def table_column(values: Any, argument: str, path: str, dtype: type[np.integer[Any]]) -> Any:
    """An array of whole numbers that none has to be rounded or wrapped for."""
    expected = f"{argument} of array {path!r}: expected whole numbers that are not negative, below 2**63"
    try:
        given = np.asarray(values)
    except (TypeError, ValueError, OverflowError) as error:
        raise UsageError(f"{expected}; {error}") from None
    is_whole = given.dtype.kind in "iu" or not given.size
    if not is_whole or (given.size and not 0 <= int(given.min()) <= int(given.max()) <= LARGEST):
        raise UsageError(f"{expected}; found {_shown(values)}")
    return given.astype(dtype)


def number(value: Any, argument: str, path: str, *, least: int = 0) -> int:
    """A whole number, as Python's."""
    if type(value) is int and least <= value <= LARGEST:
        return value
    return numbers((value,), argument, path, least=least)[0]


def check_rank(values: Sequence[Any], argument: str, rank: int, path: str) -> None:
    """Refuse what does not have one value for each axis."""
    try:
        count = len(values)
    except TypeError:
        raise UsageError(
            f"{argument} of array {path!r} is {_shown(values)}; expected whole numbers"
        ) from None
    if count != rank:
        raise UsageError(
            f"{argument} {_shown(values)} of array {path!r} has {count} values; "
            f"expected one for each of its {rank} axes"
        )


def same_numbers(values: Any, argument: str, array: ArrayPart, path: str) -> Coordinates:
    """The array's shape or chunk shape, if that is what is given."""
    found = numbers(values, argument, path)
    own = tuple(array.metadata["shape"]) if argument == "shape" else chunk_shape_of(array.metadata)
    if found != own:
        raise UsageError(f"{argument} {found}: array {path!r} was added with {own}")
    return found


def check_names(names: Sequence[Any], rank: int, path: str) -> None:
    """Refuse dimension names that are none."""
    is_list = isinstance(names, Sequence) and not isinstance(names, str)
    if not is_list or not all(name is None or isinstance(name, str) for name in names):
        raise UsageError(
            f"dimension_names of array {path!r} are {_shown(names)}; expected text or None for each axis"
        )
    check_rank(names, "dimension_names", rank, path)
    for name in names:
        if name is not None:
            check_text(name, "dimension_names", path)


def check_data_type(data_type: DataType, path: str) -> None:
    """Refuse a data type that zarr does not know."""
    try:
        item_nbytes(data_type)
    except ValueError as error:
        raise UsageError(f"data_type of array {path!r}: {error}") from error


def check_codecs(codecs: Any, path: str) -> None:
    """Refuse what is no list of codecs."""
    expected = "a list of objects with a name and a configuration"
    if not isinstance(codecs, list | tuple) or not codecs:
        raise UsageError(f"codecs of array {path!r} are {_shown(codecs)}; expected {expected}")
    for codec in codecs:
        if not isinstance(codec, Mapping) or not isinstance(codec.get("name"), str):
            raise UsageError(f"codecs of array {path!r} hold {_shown(codec)}; expected {expected}")


def check_coordinates(coordinates: Coordinates, grid: Coordinates, path: str) -> None:
    """Refuse coordinates of no chunk."""
    if len(coordinates) != len(grid):
        check_rank(coordinates, "coordinates", len(grid), path)
    for coordinate, count in zip(coordinates, grid, strict=True):
        if not 0 <= coordinate < count:
            raise UsageError(
                f"coordinates {coordinates} lie outside of the chunk grid {grid} of array {path!r}"
            )


def check_end(offset: int, length: int, path: str, coordinates: Coordinates) -> None:
    """Refuse a byte range that no file has."""
    if offset + length > LARGEST:
        raise UsageError(
            f"chunk {coordinates} of array {path!r} ends at {offset + length}, which no file has"
        )


def check_table(coordinates: Any, offsets: Any, nbytes: Any, grid: Coordinates, path: str) -> None:
    """Refuse a table of chunks of which a row is no chunk."""
    if coordinates.ndim != 2 or coordinates.shape[1] != len(grid):
        raise UsageError(
            f"coordinates of array {path!r} have shape {coordinates.shape}; expected (chunks, {len(grid)})"
        )
    for argument, column in (("offsets", offsets), ("nbytes", nbytes)):
        if column.shape != coordinates.shape[:1]:
            raise UsageError(
                f"{argument} of array {path!r} have shape {column.shape}; expected one number for each of "
                f"{len(coordinates)} coordinates"
            )
    if len(offsets) and int((offsets + nbytes).max()) > LARGEST:  # each is below 2**63: no sum begins anew
        raise UsageError(f"offsets of array {path!r}: a chunk ends after 2**63 bytes, which no file has")
    outside = ((coordinates < 0) | (coordinates >= np.array(grid, np.int64))).any(axis=1)
    if outside.any():
        check_coordinates(tuple(coordinates[int(outside.argmax())].tolist()), grid, path)


def check_index(index: Any, grid: Coordinates, path: str) -> None:
    """Refuse an index array of another grid, or one with halves of entries."""
    is_array = isinstance(index, np.ndarray)
    if not is_array or index.shape != (*grid, 2) or index.dtype != np.uint64:
        found = f"shape {index.shape} and type {index.dtype}" if is_array else f"type {type(index).__name__}"
        raise UsageError(
            f"the index of {path!r} has {found}; its chunk grid {grid} asks for {(*grid, 2)} and uint64"
        )
    half = _first_half(index)
    if half is not None:
        raise UsageError(
            f"the index of {path!r} has an offset or a size of 2**64 - 1 alone at {half}; "
            "a chunk that was never written has both"
        )


def _first_half(index: IndexArray) -> Coordinates | None:
    wrong = (index[..., 0] == MISSING) != (index[..., 1] == MISSING)
    if not wrong.any():
        return None
    return tuple(int(c) for c in np.unravel_index(int(wrong.argmax()), wrong.shape))


def check_run(run: ChunkRun, grid: Coordinates, path: str) -> None:
    """Refuse evenly spaced chunks that leave the grid, or the file at its beginning."""
    if any(last >= count for last, count in zip(run.last, grid, strict=True)):
        raise UsageError(
            f"count: chunks {run.first} to {run.last} leave the chunk grid {grid} of array {path!r}"
        )
    lowest, highest = run.bounds()
    if lowest < 0 or highest + run.length > LARGEST:
        raise UsageError(
            f"start and stride: chunks of array {path!r} lie from {lowest} to {highest + run.length}, "
            "which no file has"
        )


def check_runs_apart(runs: Sequence[ChunkRun], path: str) -> None:
    """Refuse evenly spaced chunks that give one chunk twice, of which readers would have to choose.

    Sorted along the axis that tells most of them apart, few are between the beginning and the end of another.
    """
    if len(runs) < 2:
        return
    first = np.array([(0, *run.first) for run in runs], np.int64)  # an array may have no axes
    last = np.array([(0, *run.last) for run in runs], np.int64)
    along = int(np.argmax([len(np.unique(column)) for column in first.T]))
    order = np.argsort(first[:, along], kind="stable")
    first, last = first[order], last[order]
    ends = np.searchsorted(first[:, along], last[:, along], side="right")
    for number, end in enumerate(ends.tolist()):
        following = slice(number + 1, end)
        meet = (first[following] <= last[number]).all(axis=1) & (last[following] >= first[number]).all(axis=1)
        if meet.any():
            one, other = runs[order[number]], runs[order[number + 1 + int(meet.argmax())]]
            raise UsageError(
                f"count: chunks {one.first} to {one.last} and {other.first} to {other.last} of array "
                f"{path!r} were both added, and have chunks in common"
            )


def checked_selection(part: ArrayPart, record_size: Any, keep: Any, path: str) -> SelectionEntry:
    """A selection's entry, if the array can have it."""
    names = [codec_name(codec) for codec in part.metadata["codecs"]]
    if names != ["bytes"]:
        raise UsageError(
            f"{path!r} is compressed or transposed ({', '.join(names)}); "
            "a selection applies to plain bytes only"
        )
    record_size = number(record_size, "record_size", path, least=1)
    try:
        ranges = [list(numbers(ends, "keep", path)) for ends in keep]
        entry: SelectionEntry = {"record_size": record_size, "keep": ranges}
        selection = Selection.from_entry(entry)
    except UsageError as error:
        raise UsageError(f"array {path!r}: {error}") from None
    except (TypeError, ValueError):
        raise UsageError(
            f"keep of array {path!r} is {_shown(keep)}; expected (start, stop) of each part of a record"
        ) from None
    nbytes = ArrayLayout.from_metadata(part.metadata, path).chunk_nbytes
    if nbytes is None:
        raise UsageError(f"{path!r} has elements of variable length; a selection applies to fixed ones")
    if nbytes % selection.kept_size:
        raise UsageError(
            f"keep: a record gives {selection.kept_size} bytes, and a chunk of array {path!r} has {nbytes}, "
            "which is no multiple"
        )
    return entry


def check_lengths(part: ArrayPart, path: str) -> None:
    """Refuse lengths that chunks stored as they are cannot have.

    Raises
    ------
    UsageError
        With the first such chunk. Whether a file is long enough is not asked.
    """
    if not (part.chunks or part.runs or part.inline):
        return
    layout = ArrayLayout.from_metadata(part.metadata, path)
    whole = layout.chunk_nbytes
    if whole is None:
        return
    selection = None if part.selection is None else Selection.from_entry(part.selection)
    for argument, coordinates, length, is_stored in _unusual(part, whole):
        selected = selection is not None and is_stored
        nbytes = selected_length(length, selection) if selected and selection else length
        needed = layout.needed_nbytes(coordinates)
        if not needed <= nbytes <= whole:
            gives = f" and gives {nbytes}" if selected else ""
            least = f"{needed} to {whole}" if needed < whole else str(whole)
            raise UsageError(
                f"{argument}: chunk {coordinates} of array {path!r} has {length} bytes{gives}; "
                f"it takes {least}"
            )


def _unusual(part: ArrayPart, whole: int) -> Iterator[tuple[str, Coordinates, int, bool]]:
    """Chunks to look at: which argument, coordinates, bytes, and whether these are in a file."""
    for coordinates, place in part.chunks.items():
        if len(place) == 3 and (place[2] != whole or part.selection is not None):
            yield "length", coordinates, place[2], True
    for run in part.runs:  # of a run the first chunk takes most
        yield "length", run.first, run.length, True
    for coordinates, data in part.inline.items():
        if len(data) != whole:
            yield "data", coordinates, len(data), False


def _shown(value: Any) -> str:
    return repr(value)[:80]
