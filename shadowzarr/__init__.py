"""Scientists' HDF5 files as cloud-native Zarr v3, without copying a byte.

The public names, and nothing else. Each is imported when it is first used, so that importing the
package, or running its command for help, does not import zarr and h5py.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .access.local_cache import LocalCache
    from .attributes import decode_attributes
    from .builder import RfsBuilder
    from .errors import ShadowzarrError, SourceChangedError
    from .export.materialize import MaterializeReport, materialize
    from .export.to_hdf5 import ToHdf5Report, to_hdf5
    from .formats.hdf5.generate import generate_rfs
    from .formats.neo_rawio.generate import generate_rfs_neo
    from .formats.neo_rawio.virtual_arrays import virtual_arrays_neo
    from .formats.tiff.generate import generate_rfs_tiff
    from .kerchunk import kerchunk_to_rfs, write_kerchunk
    from .lindi import lindi_to_rfs, rfs_to_lindi
    from .refs.document import Rfs
    from .relocation import RelocationReport, relocate_rfs
    from .store.describe import describe
    from .store.load_rfs import load_rfs
    from .store.open_rfs import open_rfs
    from .store.rfs_store import RfsStore
    from .verify import VerificationReport, verify_rfs
    from .virtual import VirtualArray, concatenate, stack
    from .write import write_rfs

_HOMES = {
    "LocalCache": ".access.local_cache",
    "MaterializeReport": ".export.materialize",
    "RelocationReport": ".relocation",
    "Rfs": ".refs.document",
    "RfsBuilder": ".builder",
    "RfsStore": ".store.rfs_store",
    "ShadowzarrError": ".errors",
    "SourceChangedError": ".errors",
    "ToHdf5Report": ".export.to_hdf5",
    "VerificationReport": ".verify",
    "VirtualArray": ".virtual",
    "concatenate": ".virtual",
    "decode_attributes": ".attributes",
    "describe": ".store.describe",
    "generate_rfs": ".formats.hdf5.generate",
    "generate_rfs_neo": ".formats.neo_rawio.generate",
    "generate_rfs_tiff": ".formats.tiff.generate",
    "kerchunk_to_rfs": ".kerchunk",
    "lindi_to_rfs": ".lindi",
    "load_rfs": ".store.load_rfs",
    "materialize": ".export.materialize",
    "open_rfs": ".store.open_rfs",
    "relocate_rfs": ".relocation",
    "rfs_to_lindi": ".lindi",
    "stack": ".virtual",
    "to_hdf5": ".export.to_hdf5",
    "verify_rfs": ".verify",
    "virtual_arrays_neo": ".formats.neo_rawio.virtual_arrays",
    "write_kerchunk": ".kerchunk",
    "write_rfs": ".write",
}

__all__ = [
    "LocalCache",
    "MaterializeReport",
    "RelocationReport",
    "Rfs",
    "RfsBuilder",
    "RfsStore",
    "ShadowzarrError",
    "SourceChangedError",
    "ToHdf5Report",
    "VerificationReport",
    "VirtualArray",
    "concatenate",
    "decode_attributes",
    "describe",
    "generate_rfs",
    "generate_rfs_neo",
    "generate_rfs_tiff",
    "kerchunk_to_rfs",
    "lindi_to_rfs",
    "load_rfs",
    "materialize",
    "open_rfs",
    "relocate_rfs",
    "rfs_to_lindi",
    "stack",
    "to_hdf5",
    "verify_rfs",
    "virtual_arrays_neo",
    "write_kerchunk",
    "write_rfs",
]


def __getattr__(name: str) -> object:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(importlib.import_module(_HOMES[name], __name__), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(set(globals()) | set(__all__))
