"""An archive made from a folder: each six-digit subfolder is a dandiset, what is below it its draft.

Names that begin with a dot and ``dandiset.yaml`` are left out, and so are empty files, which the
archive does not take. A folder ``*.zarr`` or ``*.ngff`` is one Zarr asset. A file ``archive.json``
beside the dandisets may say more::

    {"users": {"alice": {"key": "alice-key", "admin": false}},
     "dandisets": {"000001": {"title": "A title", "embargo": "EMBARGOED", "owners": ["alice"],
                              "versions": {"0.250102.0304": "draft",
                                           "0.240506.0708": {"old/name.nwb": "000001/a.nwb"}}}}}

A version is either ``"draft"`` (the draft as it is when the archive is opened) or a table of paths in
the version and the files, relative to the folder, that lie there.
"""

from __future__ import annotations

import json
import os
import re
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from ...errors import ConfigError, UsageError
from .archive import Archive
from .contents import Dandiset

DESCRIPTION = "archive.json"
ZARR_SUFFIXES = (".zarr", ".ngff")
_DANDISET = re.compile(r"\d{6}", re.ASCII)
_IGNORED = {"dandiset.yaml"}
_DIGEST_THREADS = 4
_EMBARGO = ("OPEN", "EMBARGOED", "UNEMBARGOING")

_State = tuple[int, int, int]


class FolderArchive(Archive):
    """The archive of a folder.

    Parameters
    ----------
    folder : path
        Holds the dandisets.

    Attributes
    ----------
    left_out : dict of Path to str
        Files that are no assets, and why.

    Raises
    ------
    UsageError
        When the folder does not exist, or holds no dandiset.
    ConfigError
        When ``archive.json`` is wrong.
    """

    def __init__(self, folder: str | os.PathLike[str]) -> None:
        super().__init__()
        self.folder = Path(folder).absolute()
        self.left_out: dict[Path, str] = {}
        self._seen: dict[str, dict[str, _State]] = {}
        self._refreshing = threading.Lock()
        if not self.folder.is_dir():
            raise UsageError(f"{self.folder} is not a folder; name one that holds folders such as 000001/")
        if not _dandiset_folders(self.folder):
            raise UsageError(
                f"{self.folder} holds no dandiset: put files into a subfolder named by six digits, "
                "such as 000001/"
            )
        description = _read_description(self.folder / DESCRIPTION)
        self._describe(description)
        self.refresh()
        self._publish(description)

    def refresh(self) -> bool:
        """Look at the folder again and take over what has changed there into the drafts.

        Changes made by calls on the archive stay as they are.

        Returns
        -------
        bool
            Whether anything had changed.
        """
        with self._refreshing:
            self.left_out.clear()
            changed = [self._refresh_dandiset(path) for path in _dandiset_folders(self.folder)]
        return any(changed)

    def _refresh_dandiset(self, folder: Path) -> bool:
        found = {name: _state(folder / name) for name in self._contents(folder)}
        seen = self._seen.get(folder.name, {})
        if found == seen and folder.name in self._seen:
            return False
        changed = [name for name, state in found.items() if seen.get(name) != state]
        with ThreadPoolExecutor(_DIGEST_THREADS) as pool:
            list(pool.map(self._digest, [folder / name for name in changed]))
        with self.lock:
            dandiset = self.dandisets.get(folder.name) or self.add_dandiset(folder.name)
            self._take_over(dandiset, folder, changed, removed=sorted(seen.keys() - found.keys()))
            self._seen[folder.name] = found
        return True

    def _contents(self, folder: Path) -> list[str]:
        names = []
        for path in sorted(_walk(folder)):
            if path.is_file() and not path.stat().st_size:
                self.left_out[path] = "the archive takes no empty files"
            elif path.relative_to(folder).as_posix() not in _IGNORED:
                names.append(path.relative_to(folder).as_posix())
        return names

    def _digest(self, path: Path) -> None:
        """Digest a file before the archive is locked; what is known is not computed again."""
        if path.is_file():
            self.etag_of(path)

    def _take_over(self, dandiset: Dandiset, folder: Path, changed: list[str], *, removed: list[str]) -> None:
        draft = dandiset.draft
        for name in removed:
            if name in draft.assets:
                self.remove_asset(dandiset.identifier, name)
        for name in changed:
            path = folder / name
            if name not in draft.assets:
                self.add_asset(dandiset.identifier, name, path, created=_time(path))
            elif path.is_dir():
                self.add_zarr(dandiset.identifier, name, path)  # the asset and its ids stay
                self.touch(draft)
            elif self.add_blob(path).blob_id != self.asset_at(dandiset.identifier, name).blob_id:
                self.replace_asset(dandiset.identifier, name, path)
        # A later run over a folder with other content must not show the same time.
        draft.modified = max(draft.modified, *(_time(path) for path in [folder, *_folders(folder)]))
        for name in changed:
            draft.modified = max(draft.modified, _time(folder / name))

    def _describe(self, description: dict[str, Any]) -> None:
        for name, user in description.get("users", {}).items():
            self.add_user(name, key=user["key"], is_admin=bool(user.get("admin", False)))
        for identifier, about in description.get("dandisets", {}).items():
            self.add_dandiset(
                identifier,
                title=about.get("title"),
                embargo=about.get("embargo", "OPEN"),
                owners=about.get("owners", ()),
            )

    def _publish(self, description: dict[str, Any]) -> None:
        for identifier, about in description.get("dandisets", {}).items():
            for version, contents in sorted(about.get("versions", {}).items()):
                if contents == "draft":
                    self.publish(identifier, version=version)
                else:
                    self._publish_files(identifier, version, contents)

    def _publish_files(self, identifier: str, version: str, contents: dict[str, str]) -> None:
        """Publish a version of its own by way of a draft that is put back afterwards."""
        draft = self.dandiset(identifier).draft
        kept, draft.assets = draft.assets, {}
        try:
            for path, name in contents.items():
                same = kept.get(path)
                file = self.folder / name
                if same and self.asset(same).blob_id == self.add_blob(file).blob_id:
                    draft.assets[path] = same
                else:
                    self.add_asset(identifier, path, file, created=_time(file))
            self.add_version(identifier, draft.assets, version=version)
        finally:
            draft.assets = kept


def _dandiset_folders(folder: Path) -> list[Path]:
    return sorted(path for path in folder.iterdir() if _DANDISET.fullmatch(path.name) and path.is_dir())


def _walk(folder: Path) -> Iterator[Path]:
    """Give files and Zarr folders below a folder."""
    for path in folder.iterdir():
        if path.name.startswith("."):
            continue
        if path.is_file() or path.suffix in ZARR_SUFFIXES:
            yield path
        elif path.is_dir():
            yield from _walk(path)


def _folders(folder: Path) -> Iterator[Path]:
    """Give the folders below a folder but for those inside Zarr stores."""
    for path in folder.iterdir():
        if path.is_dir() and not path.name.startswith(".") and path.suffix not in ZARR_SUFFIXES:
            yield path
            yield from _folders(path)


def _state(path: Path) -> _State:
    """Give what shows that a file, or anything in a Zarr folder, has changed: number, bytes, time."""
    if not path.is_dir():
        stat = path.stat()
        return 1, stat.st_size, stat.st_mtime_ns
    stats = [file.stat() for file in path.rglob("*") if file.is_file()]
    times = [stat.st_mtime_ns for stat in stats]
    return len(stats), sum(stat.st_size for stat in stats), max(times, default=0)


def _time(path: Path) -> datetime:
    return datetime.fromtimestamp(path.stat().st_mtime, UTC)


def _read_description(path: Path) -> dict[str, Any]:
    if not path.exists():
        return {}
    try:
        description = json.loads(path.read_text())
    except ValueError as error:
        raise ConfigError(f"{path} is not JSON: {error}") from error
    _check_description(path, description)
    return dict(description)


def _check_description(path: Path, description: Any) -> None:
    if not isinstance(description, dict):
        raise ConfigError(f"{path}: found {type(description).__name__}, expected an object")
    _check_names(path, "", description, {"users", "dandisets"})
    for name, user in description.get("users", {}).items():
        _check_names(path, f"users.{name}.", user, {"key", "admin"})
        if not isinstance(user.get("key"), str):
            raise ConfigError(f"{path}: users.{name} has no key; give it a text of your choice")
    for identifier, about in description.get("dandisets", {}).items():
        where = f"dandisets.{identifier}."
        _check_names(path, where, about, {"title", "embargo", "owners", "versions"})
        if about.get("embargo", "OPEN") not in _EMBARGO:
            raise ConfigError(f"{path}: {where}embargo is {about['embargo']!r}, expected one of {_EMBARGO}")
        for version, contents in about.get("versions", {}).items():
            _check_version(path, f"{where}versions.{version}", contents)


def _check_version(path: Path, where: str, contents: Any) -> None:
    if contents == "draft":
        return
    if not isinstance(contents, dict):
        raise ConfigError(f'{path}: {where} is neither "draft" nor a table of paths and files')
    for file in contents.values():
        if not (path.parent / file).exists():
            raise ConfigError(f"{path}: {where} names {file}, which is not in the folder")


def _check_names(path: Path, where: str, table: Any, known: set[str]) -> None:
    if not isinstance(table, dict):
        raise ConfigError(f"{path}: {where.rstrip('.')} is not an object")
    for name in table.keys() - known:
        raise ConfigError(f"{path}: unknown {where}{name}; expected one of {', '.join(sorted(known))}")
