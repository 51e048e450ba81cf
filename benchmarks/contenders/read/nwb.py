"""Reading an NWB file's structure: ``NWBZarrIO.read()`` on references, ``NWBHDF5IO.read()`` on the file."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from benchmarks.measure.prepared import Prepared

Open = Callable[[dict[str, str]], Any]


def prepare(arguments: dict[str, Any]) -> Prepared:
    """Import what the form needs; what is timed is opening and ``read()``."""
    open_io = _FORMS[arguments["form"]]()
    open_io(arguments["warm_up"]).read()

    def run() -> tuple[Any, Any]:
        io = open_io(arguments["place"])
        return io, io.read()  # it closes its file once it is no longer referred to

    return Prepared(run, lambda result: describe(result[1]))


def describe(nwbfile: Any) -> list[Any]:
    """Enough of a file to see that it is the right one."""
    series = nwbfile.acquisition["ElectricalSeries"]
    return [
        nwbfile.identifier,
        [int(extent) for extent in series.data.shape],
        float(series.rate),
        len(nwbfile.electrodes),
    ]


def _directory() -> Open:
    from hdmf_zarr import NWBZarrIO

    from shadowzarr import RfsStore

    return lambda place: NWBZarrIO(RfsStore(f"{place['references']}.shadowzarr"), mode="r")


def _json() -> Open:
    import fsspec
    from hdmf_zarr import NWBZarrIO
    from zarr.storage import FsspecStore

    def open_io(place: dict[str, str]) -> Any:
        files = fsspec.filesystem(
            "reference",
            fo=f"{place['references']}.shadowzarr.json",
            remote_protocol="file",
            asynchronous=True,
        )
        return NWBZarrIO(FsspecStore(files, read_only=True), mode="r")

    return open_io


def _hdf5() -> Open:
    from pynwb import NWBHDF5IO

    return lambda place: NWBHDF5IO(place["source"], mode="r")


def _lindi() -> Open:
    from lindi import LindiH5pyFile
    from pynwb import NWBHDF5IO

    return lambda place: NWBHDF5IO(
        file=LindiH5pyFile.from_lindi_file(f"{place['references']}.lindi.json"), mode="r"
    )


_FORMS = {"shadowzarr": _directory, "shadowzarr.json": _json, "hdf5": _hdf5, "lindi.json": _lindi}
