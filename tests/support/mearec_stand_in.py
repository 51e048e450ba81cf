"""What NEO asks of MEArec, whose own library brings a simulator: the parts of a file, as h5py has them."""

import importlib.util
import sys
from types import ModuleType, SimpleNamespace
from typing import Any

import h5py


def install() -> None:
    """Stand in for the library where it is not installed."""
    if "MEArec" not in sys.modules and importlib.util.find_spec("MEArec") is None:
        module = ModuleType("MEArec")
        module.load_recordings = load_recordings
        sys.modules["MEArec"] = module


def load_recordings(recordings: Any, **_: Any) -> SimpleNamespace:
    """As MEArec 1.9 with ``return_h5_objects``: datasets that are not read yet."""
    file = h5py.File(recordings, "r")
    info = {
        part: {
            name: value.asstr()[()] if h5py.check_string_dtype(value.dtype) else value[()]
            for name, value in group.items()
        }
        for part, group in file["info"].items()
    }
    return SimpleNamespace(
        info=info,
        channel_positions=file["channel_positions"],
        recordings=file["recordings"],
        spiketrains=[],
    )
