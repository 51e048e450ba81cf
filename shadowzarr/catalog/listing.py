"""What a request wants, found and listed: versions of dandisets, folders, manifests; all of them as assets.

The one place that knows where assets come from. Planning, indexing, verifying and publishing do not.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path
from types import TracebackType
from typing import Self

from ..access.dandi_api import DandiArchive
from ..errors import UsageError
from .assets import CatalogAsset
from .file_assets import CURRENT
from .folders import check_folder, list_folder
from .manifests import check_manifest, list_manifest
from .request import DandisetRequest, FolderRequest, IndexRequest, ManifestRequest, Wanted
from .resolve import ResolvedVersion, open_archive, resolve_assets, resolve_version


class Lister:
    """Finds and lists what is wanted; the archive is opened when the first dandiset asks for it.

    Parameters
    ----------
    request : IndexRequest
        What a run is asked to do.
    """

    def __init__(self, request: IndexRequest) -> None:
        self._request = request
        self._stack = contextlib.ExitStack()
        self._opened: DandiArchive | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stack.close()

    def resolve(self) -> list[ResolvedVersion]:
        """Find everything that is wanted; one request for a dandiset, none for a folder.

        Raises
        ------
        UsageError
            When one version, or one name, is asked for twice, or a folder or manifest is not there.
        ShadowzarrError
            When a dandiset is not there, not readable, or the archive does not answer.
        """
        found: dict[tuple[str, str], ResolvedVersion] = {}
        for wanted in self._request.wanted:
            version = self._resolve(wanted)
            if found.setdefault((version.dandiset.casefold(), version.version), version) is not version:
                raise UsageError(
                    f"dandiset {version.dandiset} is asked for twice in its version {version.version}; "
                    "make one entry of the two"
                    if version.kind == "dandiset"
                    else f"{version.title} is the name of two entries; give one of them another"
                )
        return list(found.values())

    def assets(self, wanted: Wanted, version: ResolvedVersion) -> Iterator[CatalogAsset]:
        """List the assets of one of them.

        Raises
        ------
        ShadowzarrError
            When that is impossible.
        """
        match wanted:
            case DandisetRequest():
                yield from resolve_assets(self._archive(), version)
            case FolderRequest():
                yield from list_folder(wanted, outputs=_folders(self._request))
            case ManifestRequest():
                yield from list_manifest(wanted)

    def _resolve(self, wanted: Wanted) -> ResolvedVersion:
        match wanted:
            case DandisetRequest():
                return resolve_version(self._archive(), wanted.dandiset, wanted.version)
            case FolderRequest():
                check_folder(wanted)
                return ResolvedVersion(wanted.name, CURRENT, is_open=True, kind="folder")
            case ManifestRequest():
                check_manifest(wanted)
                return ResolvedVersion(wanted.name, CURRENT, is_open=True, kind="manifest")

    def _archive(self) -> DandiArchive:
        if self._opened is None:
            self._opened = self._stack.enter_context(open_archive(self._request.archive))
        return self._opened


def _folders(request: IndexRequest) -> list[Path]:
    """Folders that the run writes to."""
    return [Path(layout.folder) for layout in request.layouts if layout.bucket is None]
