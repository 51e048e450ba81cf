"""What one of NEO's readers was given: where the recording is, and what else its signals depend on.

References say it, so that they can be compared with the recording later; NEO itself is not imported here.
"""

from __future__ import annotations

import inspect
import os
from pathlib import Path
from typing import Any, Final

from .recordings import first_file

TOLD: Final = frozenset(
    {
        "binary_file", "bytesoffset", "ced_units", "dtype", "exclude_filenames", "experiment_names",
        "fill_gap_value", "force_single_segment", "gap_tolerance_ms", "ignore_integrity_checks",
        "include_filenames", "keep_original_times", "nb_channel", "nsx_to_load", "rec_name", "sampling_rate",
        "selected_streams", "signal_gain", "signal_offset", "take_ideal_sampling_rate", "try_signal_grouping",
    }
)  # fmt: skip
"""Parameters of NEO's readers on which their signals depend. None names a
program or is a secret: who verifies references gives NEO what they say."""


def given_path(reader: Any) -> str:
    """What one of NEO's readers says that it reads, which need not be there: some leave an ending out.

    Its ``source_name()`` is not always a path: of NeuroScope it is a name without its folder.

    Parameters
    ----------
    reader : neo.rawio.baserawio.BaseRawIO
    """
    for name in ("filename", "dirname"):
        found = getattr(reader, name, None)
        if isinstance(found, str | os.PathLike) and os.fspath(found):
            return str(os.fspath(found))
    return type(reader).__name__


def place_of(reader: Any) -> str | None:
    """Where the recording of one of NEO's readers is, as an absolute path that the same kind of reader takes.

    Parameters
    ----------
    reader : neo.rawio.baserawio.BaseRawIO

    Returns
    -------
    str or None
        The file or folder; the first file of a recording whose reader keeps its name without an ending, as
        those of Axona, Blackrock and TDT do. None when nothing is there.
    """
    path = Path(os.path.abspath(given_path(reader)))  # noqa: PTH100 - links are left as they are
    # a folder may be called as a recording's files are without their endings
    if path.is_file() or (path.is_dir() and getattr(reader, "dirname", None) is not None):
        return str(path)
    try:
        beside = sorted(path.parent.iterdir())
    except OSError:
        return None
    wanted = type(reader).__name__
    for each in beside:
        if each.name.startswith(f"{path.name}."):
            found = first_file(each)
            is_block = wanted == "TdtRawIO" and each.suffix.lower() == ".tsq"
            if is_block or (found is not None and found.kind.reader == wanted):
                return str(each)
    return None


def told_options(reader: Any) -> dict[str, Any]:
    """What one of NEO's readers was told beside where the recording is, as far as its signals depend on it.

    Parameters
    ----------
    reader : neo.rawio.baserawio.BaseRawIO

    Returns
    -------
    dict
        By the names of `TOLD`, what is not as it is by default: truth values, numbers, text, lists of these.
    """
    known = inspect.signature(type(reader).__init__).parameters
    found: dict[str, Any] = {}
    for name in TOLD & known.keys():
        value = getattr(reader, name, None)
        if name == "dtype" and value is not None:
            import numpy as np

            value = np.dtype(value).str
        if isinstance(value, Path):
            value = os.path.abspath(value)  # noqa: PTH100
        if isinstance(value, list | tuple):
            value = list(value) or None
        if value is not None and value != known[name].default and is_told(value):
            found[name] = value
    return dict(sorted(found.items()))


def is_told(value: Any) -> bool:
    """Whether a value is one that a document can hold of what a reader was told."""
    return all(
        isinstance(each, str | int | float) for each in (value if isinstance(value, list) else [value])
    )
