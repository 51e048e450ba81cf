"""AxoGraph: each trace is a column of its own in the file, big-endian, one after the other.

File format of AxoGraph X (``AxoGraph_ReadWrite.h``); NEO maps every column but the first, which is the time,
and sorts those of episodes into segments (``_raw_signals``).
"""

from __future__ import annotations

from ....virtual import VirtualArray, stack
from ....virtual.memmap import memmap_layout
from ...cannot_represent import CannotRepresentError
from ..recording import Recording, Segment, asking_neo
from ..streams import Stream


def stream_array(recording: Recording, segment: Segment, stream: Stream) -> VirtualArray:
    """The traces of a segment."""
    with asking_neo():
        columns = list(recording.reader._raw_signals[segment.number])
        path = recording.reader.filename
    types = list(dict.fromkeys(column.dtype.str for column in columns))
    if len(types) > 1:
        raise CannotRepresentError(
            f"its traces are stored as {' and '.join(types)}, which NEO converts into one data type"
        )
    if types and types[0][1:] == "i8":
        raise CannotRepresentError(
            "NEO takes its integers of 32 bits for integers of 64, and shows other values"
        )
    lengths = sorted({len(column) for column in columns})
    if len(lengths) > 1:
        raise CannotRepresentError(f"its traces have {' and '.join(map(str, lengths))} samples")
    arrays = []
    for column in columns:
        layout, _ = memmap_layout(column, None, None)
        url = recording.files.place(path, layout.start + column.nbytes)
        arrays.append(VirtualArray.from_memmap(column, url=url))
    return stack(arrays, axis=1)
