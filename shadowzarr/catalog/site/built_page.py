"""The page's scripts and styles, as ``make site-assets`` builds them and wheels bring them."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import orjson

from ...errors import UsageError

ASSETS: Final = Path(__file__).parent / "assets"
"""Where the built files are; not part of the sources."""

MANIFEST: Final = "manifest.json"
_NAME = re.compile(r"[\w.-]+\.(js|css)", re.ASCII)


@dataclass(frozen=True)
class BuiltPage:
    """The built files; their names tell their content.

    Attributes
    ----------
    folder : Path
    script, style : str
        The files that the page loads itself.
    first : tuple of str
        All that the first view loads: those two, and the scripts that the first one imports.
    files : tuple of str
        All files, in order.
    """

    folder: Path
    script: str
    style: str
    first: tuple[str, ...]
    files: tuple[str, ...]


def built_page(folder: Path = ASSETS) -> BuiltPage:
    """Find the built files.

    Raises
    ------
    UsageError
        When they have not been built, or not whole; it says how that is done.
    """
    try:
        manifest = orjson.loads((folder / MANIFEST).read_bytes())
        page = BuiltPage(
            folder,
            manifest["script"],
            manifest["style"],
            tuple(manifest["first"]),
            tuple(sorted(manifest["files"])),
        )
    except FileNotFoundError:
        raise _not_built("not built") from None
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise _not_built(f"not whole ({error})") from error
    for name in page.files:
        if not _NAME.fullmatch(name) or not (folder / name).is_file():
            raise _not_built(f"not whole ({name})")
    return page


def _not_built(what: str) -> UsageError:
    return UsageError(
        f"the page of the catalogue is {what}: run `make site-assets` where shadowzarr's sources are (its "
        "wheels bring the page)"
    )
