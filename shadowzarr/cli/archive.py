"""``shadowzarr archive``: serve a folder of files as a DANDI archive on this machine."""

from __future__ import annotations


def archive(folder: str) -> int:
    """Serve a folder of NWB files as a DANDI archive, on this machine only.

    Every folder in FOLDER is a dandiset. Runs until it is interrupted.

    Parameters
    ----------
    folder
        The folder to serve.
    """
    from pathlib import Path

    from ..errors import SourceNotFoundError
    from ..testing.archive import Archive

    path = Path(folder)
    if not path.is_dir():
        raise SourceNotFoundError(f"{folder} is not a directory; an archive serves a directory of dandisets")
    with Archive(path) as served:
        print(f"archive of {folder} at {served.url}", flush=True)
        served.wait()
    return 0
