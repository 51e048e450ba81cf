"""MEArec and Biocam: HDF5 files whose readers do not describe their buffers.

MEArec (recordings: time by channel). Biocam (3Brain BrainWave, BRW 3 and 4): version 3.x with data version
100 is time by channel; the others are flat, frame after frame, and are cut where a chunk has whole frames.
"""

from __future__ import annotations

import json
import math
from typing import Any, cast

import h5py

from ....refs.document import Rfs
from ....refs.zarr_metadata import chunk_grid_shape
from ....virtual import VirtualArray
from ...cannot_represent import CannotRepresentError
from ..recording import Recording, Segment, asking_neo
from ..streams import Stream
from .hdf5_datasets import dataset_array, dataset_references

_INVERTED = "_i"


def mearec(recording: Recording, segment: Segment, stream: Stream) -> VirtualArray:
    """The recordings of a MEArec file."""
    with asking_neo():
        dataset = recording.reader._recordings
        name, size = str(dataset.name), recording.size(segment, stream)
    array = dataset_array(recording, recording.reader.filename, name)
    return array if array.shape[0] == size else array[:size]


def biocam(recording: Recording, segment: Segment, stream: Stream) -> VirtualArray:
    """The frames of a Biocam file."""
    reader = recording.reader
    with asking_neo():
        how, file = reader._read_function.__name__, reader._filehandle
        frames, channels = int(reader._num_frames), int(reader._num_channels)
    if how.endswith("sparse"):
        raise CannotRepresentError("the file holds events alone, and NEO makes up what lies between them")
    if how.endswith(_INVERTED):
        raise CannotRepresentError("its values are inverted: NEO shows 4096 minus each stored value")
    name = "3BData/Raw"
    if how.endswith("brw4"):
        with asking_neo():
            name = next(each for each in file if each.startswith("Well_")) + "/Raw"
    with asking_neo():
        is_flat = file[name].ndim == 1
    if not is_flat:
        array = dataset_array(recording, reader.filename, name)
        return array if array.shape[0] == frames else array[:frames]
    return _frames(recording, file[name], frames, channels)


def _frames(recording: Recording, dataset: h5py.Dataset, frames: int, channels: int) -> VirtualArray:
    """A flat dataset as frames by channels."""
    name, path = str(dataset.name), recording.reader.filename
    start = _in_one_piece(dataset)
    if start is not None:
        nbytes = frames * channels * dataset.dtype.itemsize
        url = recording.files.place(path, start + nbytes)
        return VirtualArray.contiguous(url, shape=[frames, channels], dtype=dataset.dtype, offset=start)
    edge = dataset.chunks[0] if dataset.chunks else dataset.shape[0]
    if edge % channels:
        raise CannotRepresentError(
            f"its chunks of {edge} values hold no whole frames of {channels} channels; generate_rfs "
            "references the dataset as it is stored"
        )
    rfs = dataset_references(recording, path, name, is_listed=True)
    array = VirtualArray.from_rfs(_reshaped(rfs, name.strip("/"), frames, channels), name.strip("/"))
    return array.with_attributes({})


def _in_one_piece(dataset: h5py.Dataset) -> int | None:
    """Where the values of a dataset begin that lie in the file one after another; None for any other."""
    created = dataset.id.get_create_plist()
    if created.get_nfilters() or not dataset.size:
        return None
    if dataset.chunks is None:
        offset = dataset.id.get_offset()
        return None if offset is None or dataset.is_virtual else int(offset)
    places: dict[int, tuple[int, int]] = {}

    def visit(info: Any) -> None:
        places[info.chunk_offset[0]] = (info.byte_offset, info.size)

    dataset.id.chunk_iter(visit)
    edge, nbytes = dataset.chunks[0], dataset.chunks[0] * dataset.dtype.itemsize
    first = places.get(0, (0, 0))[0]
    wanted = {n * edge: (first + n * nbytes, nbytes) for n in range(math.ceil(dataset.shape[0] / edge))}
    return first if places == wanted else None


def _reshaped(rfs: Rfs, name: str, frames: int, channels: int) -> Rfs:
    """References to a flat array, as those of an array with an axis of channels."""
    metadata = json.loads(cast("str", rfs["refs"][f"{name}/zarr.json"]))
    (edge,) = metadata["chunk_grid"]["configuration"]["chunk_shape"]
    if edge % channels or metadata["codecs"][0]["name"] != "bytes":
        raise CannotRepresentError("its chunks cannot be decoded as whole frames")
    metadata |= {"shape": [frames, channels], "dimension_names": None, "attributes": {}}
    metadata["chunk_grid"]["configuration"]["chunk_shape"] = [edge // channels, channels]
    metadata.pop("dimension_names")
    (count, _) = chunk_grid_shape((frames, channels), (edge // channels, channels))
    refs = {f"{name}/zarr.json": json.dumps(metadata)}
    listed = ((n, rfs["refs"].get(f"{name}/c/{n}")) for n in range(count))
    refs |= {f"{name}/c/{n}/0": value for n, value in listed if value is not None}  # type: ignore[misc]
    return cast("Rfs", {**rfs, "refs": refs})
