"""``shadowzarr archive``: serve a folder of files as a DANDI archive on this machine."""

from __future__ import annotations

from typing import Annotated

from cyclopts import Parameter
from cyclopts.validators import Number

PORT = Number(gte=0, lte=65535)


def archive(
    folder: str,
    *,
    api_port: Annotated[int, Parameter(validator=PORT)] = 0,
    store_port: Annotated[int, Parameter(validator=PORT)] = 0,
) -> int:
    """Serve a folder of NWB files as a DANDI archive, on this machine only, until Ctrl-C.

    Files that are added, changed, renamed or removed are seen at the next listing. A file archive.json in the
    folder can name users with their keys, embargoed dandisets and published versions (docs/how-to.md); it is
    read once, when the command starts.

    Parameters
    ----------
    folder
        Holds one folder for each dandiset, named by six digits.
    api_port
        Port of the archive's API; 0 takes a free one.
    store_port
        Port of the object store behind it; 0 takes a free one.
    """
    from ..testing.archive import serve_folder

    serve_folder(folder, api_port=api_port, store_port=store_port, announce=_announce)
    return 0


def _announce(text: str) -> None:
    print(text, flush=True)
