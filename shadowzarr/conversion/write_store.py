"""References of an NWB file → an ordinary one, with all data in it: a Zarr store, or an HDF5 file."""

from __future__ import annotations

import os
import shutil
import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ..catalog.publish import size_of
from ..errors import OutputError
from ..export.materialize import materialize
from ..neuroconv_bridge.virtualize import data_fields
from ..store.load_rfs import load_rfs
from ..store.rfs_store import RfsStore
from .jobs import RecordingJob, StoreFacts

_IN_MEMORY = 2**20
_COMPRESSED: Mapping[str, Any] = {"compression": "gzip", "compression_opts": 4}


def write_store(job: RecordingJob) -> StoreFacts:
    """Materialize staged references, each byte of the recording read once.

    Raises
    ------
    OutputError
        When it cannot be written.
    ShadowzarrError
        As `materialize` raises them.
    """
    out = job.store_path
    if out is None:
        raise TypeError("there is no place for an ordinary file")
    try:
        out.parent.mkdir(parents=True, exist_ok=True)
        shutil.rmtree(out) if out.is_dir() else out.unlink(missing_ok=True)
        if job.store == "nwb-hdf5":
            _write_hdf5(job.staged, out)
        else:
            materialize(job.staged, out, layout="default", verify=True, max_memory=job.max_memory)
    except OutputError as error:  # what it says of going on is not so: staging is cleared
        if not isinstance(error.__cause__, OSError):
            raise
        raise _cannot(out, error.__cause__) from error
    except OSError as error:
        raise _cannot(out, error) from error
    return StoreFacts(size_of(out)[0])


def _cannot(out: Path, error: OSError) -> OutputError:
    """Say why; HDF5 says addresses and times with it."""
    reason = os.strerror(error.errno) if error.errno else error.strerror or error
    return OutputError(f"cannot write {out}: {reason}")


def _write_hdf5(staged: Path, out: Path) -> None:
    """Let pynwb export the file, compressed as NeuroConv does; data go through memory a piece at a time."""
    from hdmf_zarr import NWBZarrIO
    from pynwb import NWBHDF5IO

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with NWBZarrIO(RfsStore(load_rfs(staged)), mode="r") as source:
            nwbfile = source.read()
            _read_in_pieces(nwbfile)
            with NWBHDF5IO(str(out), mode="w") as io:
                io.export(src_io=source, nwbfile=nwbfile, write_args={"link_data": False})


def _read_in_pieces(nwbfile: Any) -> None:
    """Put iterators in place of large arrays, and values of others: hdmf (6.2) reads text row by row."""
    import zarr
    from hdmf.backends.hdf5 import H5DataIO
    from neuroconv.tools.hdmf import SliceableDataChunkIterator

    for _, data, swap in list(data_fields(nwbfile)):
        if not isinstance(data, zarr.Array) or not data.ndim:
            continue
        is_large = data.dtype.kind in "biuf" and data.size * data.dtype.itemsize > _IN_MEMORY
        swap(H5DataIO(SliceableDataChunkIterator(data), **_COMPRESSED) if is_large else data[:])
