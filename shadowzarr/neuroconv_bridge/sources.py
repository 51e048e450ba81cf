"""What an object that NeuroConv gives for data runs over: a recording, images, or a memory map."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

import numpy as np

from ..formats.neo_rawio.files import Files, UrlFor
from ..virtual import VirtualArray
from .reasons import NotVirtualizable

Source = Callable[[UrlFor | None], VirtualArray]
"""Makes the virtual array of some data, with local paths or those that a function gives."""


def source_of(data: Any) -> Source | None:
    """What gives the virtual array of some data; None for data in memory, which are small.

    Parameters
    ----------
    data : object
        What an object of pynwb has for data, without what hdmf wraps around it.

    Raises
    ------
    NotVirtualizable
        When it is an iterator of a kind that does not say where its data are.
    """
    from hdmf.data_utils import AbstractDataChunkIterator
    from neuroconv.tools.hdmf import SliceableDataChunkIterator
    from neuroconv.tools.roiextractors.imagingextractordatachunkiterator import (
        ImagingExtractorDataChunkIterator,
    )
    from neuroconv.tools.spikeinterface.spikeinterfacerecordingdatachunkiterator import (
        SpikeInterfaceRecordingDataChunkIterator,
    )

    from ..virtual.placeholder import Placeholder

    if isinstance(data, SliceableDataChunkIterator):
        data = data.data
        if not _is_mapped(data):
            raise NotVirtualizable(f"it runs over a {type(data).__name__} that is no memory map of a file")
    if _is_mapped(data):
        return lambda url_for: _mapped(data, url_for)
    if type(data) is SpikeInterfaceRecordingDataChunkIterator:
        from .recordings import recording_array

        return lambda url_for: recording_array(data, url_for)
    if type(data) is ImagingExtractorDataChunkIterator:
        from .imaging import imaging_array

        return lambda url_for: imaging_array(data.imaging_extractor, url_for)
    if isinstance(data, AbstractDataChunkIterator) and not isinstance(data, Placeholder):
        raise NotVirtualizable(f"a {type(data).__name__} does not say where its data are")
    return None


def _is_mapped(data: Any) -> bool:
    """Whether an array is a memory map of a file, or a view of one."""
    while isinstance(data, np.ndarray):
        if isinstance(data, np.memmap) and data.filename is not None:
            return True
        data = data.base
    return False


def _mapped(view: Any, url_for: UrlFor | None) -> VirtualArray:
    base = view
    while not (isinstance(base, np.memmap) and base.filename is not None):
        base = base.base
    files = Files(url_for)
    url = files.place(os.fspath(base.filename), 0)
    return VirtualArray.from_memmap(view, url=url).with_sources(files.sources)
