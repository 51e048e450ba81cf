"""How something is installed into this environment: the advice of every message, in the way that works here.

A clone takes its extras from its folder, a wheel from where it came from, a release from the package index;
an environment that uv made has no pip in it.
"""

from __future__ import annotations

import json
import os
import shutil
import sys
from importlib.metadata import Distribution, PackageNotFoundError, distribution
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit
from urllib.request import url2pathname

NAME = "shadowzarr"

OWN_UV = ".uv/bin/uv"
"""The uv that `make env` puts into a clone."""

OVERRIDDEN = ("dandi", "neuroconv")
"""Extras whose libraries ask for older ones than this package: uv alone has the overrides of a clone."""


def install_extra(extra: str | None = None, *, again: bool = False) -> str:
    """Say how an extra is installed, or the package itself.

    Parameters
    ----------
    extra : str, optional
        Its name.
    again : bool, optional
        Whether what is there is to be installed anew.

    Returns
    -------
    str
        A command.
    """
    found = _distribution()
    origin = _origin(found)
    folder = _folder(origin)
    extras = "" if extra is None else f"[{extra}]"
    if folder is None:
        what = f'"{NAME}{extras}{_source(origin)}"'
    else:
        option = "-e " if origin["dir_info"].get("editable") else ""
        what = f'{option}"{"." if folder == Path.cwd() else folder}{extras}"'
    is_uv = _is_of_uv(found) or (folder is not None and extra in OVERRIDDEN)
    return _command(what, folder, is_uv=is_uv, again=again)


def install_library(requirement: str, *, again: bool = False, newest: bool = False) -> str:
    """Say how a library is installed.

    Parameters
    ----------
    requirement : str
        Its name, and perhaps which versions will do.
    again : bool, optional
        Whether what is there is to be installed anew.
    newest : bool, optional
        Whether what is there is to be replaced by a later version.

    Returns
    -------
    str
        A command.
    """
    found = _distribution()
    what = requirement if requirement.replace("-", "").isalnum() else f'"{requirement}"'
    folder = _folder(_origin(found))
    return _command(what, folder, is_uv=_is_of_uv(found), again=again, newest=newest)


def _command(
    what: str, folder: Path | None, *, is_uv: bool, again: bool = False, newest: bool = False
) -> str:
    words = _uv(folder) if is_uv else ["pip", "install"]
    if newest:
        words.append("--upgrade")
    if again:
        words.append("--force-reinstall")
    return " ".join([*words, what])


def _uv(folder: Path | None) -> list[str]:
    """How uv is called, so that it takes this environment and the overrides of a clone."""
    here = Path.cwd()
    words = ["uv"]
    if folder is not None and shutil.which("uv") is None and (folder / OWN_UV).exists():
        words = [OWN_UV if folder == here else _quoted(folder / OWN_UV)]
    if folder is not None and folder != here:
        words += ["--directory", _quoted(folder)]
    words += ["pip", "install"]
    taken = {os.environ.get("VIRTUAL_ENV"), str((folder or here) / ".venv")}
    return words if sys.prefix in taken else [*words, "--python", _quoted(sys.executable)]


def _distribution() -> Distribution | None:
    try:
        return distribution(NAME)
    except PackageNotFoundError:  # sources on the import path
        return None


def _origin(found: Distribution | None) -> dict[str, Any]:
    """What stands in ``direct_url.json``; empty for what came from a package index."""
    text = None if found is None else found.read_text("direct_url.json")
    return json.loads(text) if text else {}


def _folder(origin: dict[str, Any]) -> Path | None:
    """The clone that the package was installed from."""
    return Path(url2pathname(urlsplit(origin["url"]).path)) if "dir_info" in origin else None


def _source(origin: dict[str, Any]) -> str:
    """Where a wheel or a commit came from, as a requirement says it."""
    if not origin:
        return ""
    version_control = origin.get("vcs_info")
    if version_control is None:
        return f" @ {origin['url']}"
    return f" @ {version_control['vcs']}+{origin['url']}@{version_control['commit_id']}"


def _is_of_uv(found: Distribution | None) -> bool:
    return found is not None and (found.read_text("INSTALLER") or "").strip() == "uv"


def _quoted(path: Path | str) -> str:
    return f'"{path}"' if " " in str(path) else str(path)
