"""Small NWB files that look like those of a laboratory, written by pynwb, the same on every run.

Each function writes one file; `write_sample_dandisets` lays all of them out as an archive's
folders. The signals are synthetic. Serving the files is the subject of `shadowzarr.testing.archive`,
indexing them that of `shadowzarr.formats.hdf5`.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

from .behavior import write_behavior
from .imaging import write_imaging
from .recording import write_contiguous_recording, write_many_chunks, write_recording

__all__ = [
    "write_behavior",
    "write_contiguous_recording",
    "write_imaging",
    "write_many_chunks",
    "write_recording",
    "write_sample_dandisets",
]


def write_sample_dandisets(folder: str | os.PathLike[str]) -> list[Path]:
    """Write all sample files as three dandisets: ``<folder>/000001/sub-…/….nwb``.

    Parameters
    ----------
    folder : str or path
        Made when it does not exist; sample files that are there already are replaced.

    Returns
    -------
    list of Path
        The files, in the order of their dandisets and names.

    Raises
    ------
    MissingDependencyError
        When pynwb is not installed.
    """
    places: dict[str, Callable[[Path], Path]] = {
        "000001/sub-01/sub-01_ses-20260302_ecephys.nwb": write_recording,
        "000001/sub-02/sub-02_ses-contiguous_ecephys.nwb": write_contiguous_recording,
        "000001/sub-02/sub-02_ses-longterm_ecephys.nwb": write_many_chunks,
        "000002/sub-03/sub-03_ses-20260302_ophys.nwb": write_imaging,
        "000003/sub-04/sub-04_ses-20260302_behavior.nwb": write_behavior,
    }
    written = []
    for place, write in sorted(places.items()):
        path = Path(folder, place)
        path.parent.mkdir(parents=True, exist_ok=True)
        written.append(write(path))
    return written
