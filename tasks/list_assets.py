"""Task: the assets of one version of a dandiset, or the files of one folder or manifest."""

from __future__ import annotations

from prefect import task

from shadowzarr.catalog.assets import CatalogAsset
from shadowzarr.catalog.listing import Lister
from shadowzarr.catalog.request import IndexRequest, Wanted
from shadowzarr.catalog.resolve import ResolvedVersion

from .retrying import policy


@task(name="list-assets", task_run_name="list-{version.dandiset}", **policy())
def list_assets(request: IndexRequest, wanted: Wanted, version: ResolvedVersion) -> list[CatalogAsset]:
    """List what is there; one request per thousand assets of an archive."""
    with Lister(request) as lister:
        return list(lister.assets(wanted, version))
