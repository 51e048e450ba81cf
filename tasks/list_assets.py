"""Task: the assets of one version of a dandiset."""

from __future__ import annotations

from prefect import task

from shadowzarr.catalog.archive_address import ArchiveAddress
from shadowzarr.catalog.assets import CatalogAsset
from shadowzarr.catalog.resolve import ResolvedVersion, open_archive, resolve_assets

from .retrying import policy


@task(name="list-assets", task_run_name="list-{version.dandiset}", **policy())
def list_assets(archive: ArchiveAddress, version: ResolvedVersion) -> list[CatalogAsset]:
    """List the assets of a version; one request per thousand."""
    with open_archive(archive) as client:
        return list(resolve_assets(client, version))
