"""Who reads, and whose references are made for it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from benchmarks.measure.run_contender import Contender

from .environments import OURS, lindi, own

_PACKAGE = "benchmarks.contenders.read"
_REFERENCES = "benchmarks.contenders.references"
ZARR_CONCURRENCIES = (10, 100)
"""zarr's default, and what is recommended for object stores."""
_NOT_ZARR = "not through zarr 3"


def everybody(
    scratch: Path, *, is_local: bool, concurrencies: Sequence[int] = ZARR_CONCURRENCIES
) -> list[Contender]:
    """Contenders that read arrays, from the server or from local disk, where one setting is enough."""
    found = [
        Contender(OURS, f"{_PACKAGE}.shadowzarr", own(), {}),
        Contender(
            "h5py" if is_local else "h5py + remfile", f"{_PACKAGE}.remfile", own(), {}, aside=_NOT_ZARR
        ),
        Contender("LINDI", f"{_PACKAGE}.lindi", lindi(scratch), {}, aside=_NOT_ZARR),
    ]
    through_zarr: list[tuple[str, str, dict[str, Any]]] = [
        ("kerchunk JSON", "kerchunk", {"form": "kerchunk.json"}),
        ("kerchunk Parquet", "kerchunk", {"form": "kerchunk.parq"}),
        ("VirtualiZarr ManifestStore", "virtualizarr", {}),
        ("Icechunk", "icechunk", {}),
    ]
    for concurrency in concurrencies[:1] if is_local else concurrencies:
        for name, module, arguments in through_zarr:
            settings = {**arguments, "concurrency": concurrency}
            called = name if is_local else f"{name}, {concurrency} at a time"
            found.append(Contender(called, f"{_PACKAGE}.{module}", own(), settings))
    return found


def nwb(scratch: Path) -> list[Contender]:
    """Contenders that read an NWB file's structure."""
    module = f"{_PACKAGE}.nwb"
    return [
        Contender(OURS, module, own(), {"form": "shadowzarr"}),
        Contender("our references as one JSON, through fsspec", module, own(), {"form": "shadowzarr.json"}),
        Contender("h5py and NWBHDF5IO", module, own(), {"form": "hdf5"}, aside=_NOT_ZARR),
        Contender("LINDI and NWBHDF5IO", module, lindi(scratch), {"form": "lindi.json"}, aside=_NOT_ZARR),
    ]


def makers(scratch: Path, *, with_json: bool) -> list[Contender]:
    """Who makes references; ours are made anew in each run, others' are kept.

    Parameters
    ----------
    scratch : Path
        Where LINDI's environment is.
    with_json : bool
        Whether ours are written as one JSON too.
    """
    forms = ["shadowzarr", "shadowzarr.json"] if with_json else ["shadowzarr"]
    return [
        Contender(OURS, f"{_REFERENCES}.shadowzarr", own(), {"forms": forms}),
        Contender("kerchunk", f"{_REFERENCES}.kerchunk", own(), {}),
        Contender("Icechunk", f"{_REFERENCES}.icechunk", own(), {}),
        Contender("LINDI", f"{_REFERENCES}.lindi", lindi(scratch), {}),
    ]
