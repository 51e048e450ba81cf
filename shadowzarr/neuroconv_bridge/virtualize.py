"""`virtualize`: in an NWB file that NeuroConv assembled, iterators become references to their data."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from .._optional import require, require_installed
from ..errors import UsageError
from ..formats.neo_rawio.files import UrlFor
from ..virtual import VirtualArray
from .reasons import NotVirtualizable, explained
from .samples import compare_samples
from .sources import source_of


@dataclass(frozen=True)
class Virtualized:
    """What became of the data of an NWB file.

    Attributes
    ----------
    virtual : dict of str to VirtualArray
        What is referenced now, by the place of the object and its field.
    left : dict of str to str
        Why the rest is left to NeuroConv and hdmf-zarr, which copy it.
    """

    virtual: dict[str, VirtualArray] = field(default_factory=dict)
    left: dict[str, str] = field(default_factory=dict)


def virtualize(nwbfile: Any, strict: bool = True, *, url_for: UrlFor | None = None) -> Virtualized:
    """Swap the data iterators of an NWB file for placeholders of virtual arrays.

    Everything else stays as NeuroConv made it: metadata, tables, timestamps in memory. Write the file with
    `shadowzarr.nwb.write_virtual_nwb`. Some samples of each array are read both ways and compared before
    anything is swapped.

    Parameters
    ----------
    nwbfile : pynwb.NWBFile
        As ``interface.create_nwbfile`` gives it; changed in place.
    strict : bool, optional
        Whether data that cannot be referenced are an error, or left as they are, to be copied.
    url_for : callable, optional
        Gives the URL under which a local file is hosted, of its path as NeuroConv's reader has it.

    Returns
    -------
    Virtualized
        What was swapped, and what was left and why.

    Raises
    ------
    NotVirtualizable
        With ``strict``, for the first data that cannot be referenced, with the reason; nothing is swapped.
    UsageError
        When it is no ``NWBFile``.
    MissingDependencyError
        When pynwb or NeuroConv is not installed.
    """
    require_installed("neuroconv", extra="neuroconv")
    pynwb = require("pynwb", extra="nwb")
    if not isinstance(nwbfile, pynwb.NWBFile):
        raise UsageError(f"virtualize takes a pynwb.NWBFile, found a {type(nwbfile).__name__}")
    done, swaps = Virtualized(), []
    for place, data, swap in data_fields(nwbfile):
        try:
            with explained():
                array = _virtual(data, url_for)
        except NotVirtualizable as error:
            if strict:
                raise NotVirtualizable(f"{place}: {error}") from error
            done.left[place] = str(error)
            continue
        if array is not None:
            done.virtual[place] = array
            swaps.append((swap, array))
    for swap, array in swaps:
        swap(array.placeholder())
    return done


def _virtual(data: Any, url_for: UrlFor | None) -> VirtualArray | None:
    """The array that an iterator runs over; None when it is data in memory.

    Raises
    ------
    NotVirtualizable
        When there is none, or it holds other values.
    """
    source = source_of(data)
    if source is None:
        return None
    local = source(None)
    compare_samples(data, local)
    return local if url_for is None else source(url_for)


def data_fields(nwbfile: Any) -> Iterator[tuple[str, Any, Callable[[Any], Any]]]:
    """Give all fields of all objects that may hold data: where they are, values, and what replaces these."""
    from hdmf.container import Data
    from hdmf.data_utils import DataIO

    def inner(value: Any) -> Any:
        while isinstance(value, DataIO):
            value = value.data
        return value

    for each in nwbfile.all_children():  # `objects` keeps what it found when it was first asked
        place = _place(each)
        if isinstance(each, Data):
            yield place, inner(each.data), partial(_replace_data, each)
            continue
        for name, value in list(each.fields.items()):
            yield f"{place}.{name}", inner(value), partial(_replace_field, each, name)


def _replace_data(container: Any, value: Any) -> None:
    container.transform(lambda _: value)


def _replace_field(container: Any, name: str, value: Any) -> None:
    container.fields[name] = value  # pynwb lets nobody set a field twice


def _place(container: Any) -> str:
    names = []
    while container is not None and container.parent is not None:
        names.append(container.name)
        container = container.parent
    return "/".join(reversed(names)) or "root"
