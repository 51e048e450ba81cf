"""EDF and EDF+: data records, in each of which one signal's samples follow another's.

NEO reads EDF through a library, so where the samples lie is taken from the file's own header (Kemp et al.
1992, and https://www.edfplus.info/specs/edf.html): 256 bytes, then 256 for each signal; samples are
little-endian integers of 16 bits.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from ....virtual import VirtualArray
from ...cannot_represent import CannotRepresentError
from ..recording import Recording, Segment, asking_neo
from ..streams import Stream
from .channel_blocks import channel_blocks

_DTYPE = np.dtype("<i2")
_ANNOTATIONS = b"EDF Annotations"
_SAMPLES = 216
"""Bytes of a signal's fields before its number of samples in a data record. The header has each field of all
signals before the next."""


@dataclass(frozen=True, slots=True)
class _Header:
    """What an EDF file's header says of where samples lie.

    Attributes
    ----------
    nbytes : int
        Bytes of the header.
    records : int
        Number of data records.
    samples : tuple of int
        Of each signal in a data record, annotations included.
    signals : tuple of int
        Which of them are signals, in the order in which NEO counts channels.
    """

    nbytes: int
    records: int
    samples: tuple[int, ...]
    signals: tuple[int, ...]

    @property
    def record_size(self) -> int:
        """Bytes of a data record."""
        return sum(self.samples) * _DTYPE.itemsize

    def start(self, channel: int) -> int:
        """Where a channel's samples begin in a data record."""
        return sum(self.samples[: self.signals[channel]]) * _DTYPE.itemsize


def stream_array(recording: Recording, segment: Segment, stream: Stream) -> VirtualArray:
    """The channels of one sampling rate."""
    path = Path(recording.reader.filename)
    header = _header(path)
    with asking_neo():
        channels = [int(number) for number in recording.reader.stream_idx_to_chidx[stream.index]]
        lengths = {header.samples[header.signals[channel]] for channel in channels}
    if len(lengths) != 1:
        raise CannotRepresentError(
            f"its channels have {sorted(lengths)} samples in a data record, and one rate"
        )
    length = lengths.pop()
    url = recording.files.place(
        recording.reader.filename, header.nbytes + header.records * header.record_size
    )
    return channel_blocks(
        url,
        starts=[header.nbytes + header.start(channel) for channel in channels],
        samples=length,
        records=header.records,
        record_size=header.record_size,
        dtype=_DTYPE,
    )


def _header(path: Path) -> _Header:
    with path.open("rb") as file:
        fixed = file.read(256)
        if fixed[:1] == b"\xff":
            raise CannotRepresentError("BDF: its samples have 24 bits, which no data type of Zarr has")
        if b"EDF+D" in fixed[192:236]:
            raise CannotRepresentError("EDF+D: the recording is not continuous")
        count = _number(fixed[252:256], "signals")
        rest = file.read(256 * count)
    if len(fixed) < 256 or len(rest) < 256 * count:
        raise CannotRepresentError("its header is cut short")
    labels = [rest[16 * n : 16 * n + 16].strip() for n in range(count)]
    at = _SAMPLES * count
    samples = tuple(_number(rest[at + 8 * n : at + 8 * n + 8], "samples") for n in range(count))
    signals = tuple(number for number, label in enumerate(labels) if label != _ANNOTATIONS)
    return _Header(256 * (count + 1), _number(fixed[236:244], "data records"), samples, signals)


def _number(text: bytes, what: str) -> int:
    try:
        number = int(text.decode("ascii"))
    except (UnicodeDecodeError, ValueError) as error:
        raise CannotRepresentError(f"its header has {text!r} as its number of {what}") from error
    if number < 0:
        raise CannotRepresentError(f"its header says that it has {number} {what}")
    return number
