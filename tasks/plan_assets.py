"""Task: which assets of a version have to be done, and why the others need not."""

from __future__ import annotations

from prefect import task

from shadowzarr.catalog.assets import CatalogAsset
from shadowzarr.catalog.index_run import plan_version
from shadowzarr.catalog.plan import Plan, SelectionRules
from shadowzarr.catalog.request import IndexRequest
from shadowzarr.catalog.resolve import ResolvedVersion

from .retrying import policy


@task(name="plan-assets", task_run_name="plan-{version.dandiset}", **policy())
def plan_assets(
    request: IndexRequest, version: ResolvedVersion, assets: list[CatalogAsset], rules: SelectionRules
) -> Plan:
    """Compare a listing of what is there with one of the outputs."""
    return plan_version(request, version, assets, rules)
