"""What a flow that indexes does when its assets have ended, if it is asked to: repositories, Zarr stores."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from shadowzarr.catalog.index_run import RunLog
from shadowzarr.catalog.run_summary import RunSummary

from .index_config import IndexDandisetsConfig
from .refresh_after import check_extra, refresh_repositories, repository_warnings

if TYPE_CHECKING:
    from shadowzarr.catalog.refresh.report import RepositoryReport

    from .materialize_after import StoresReport


@dataclass(frozen=True)
class AfterRun:
    """What became of that.

    Attributes
    ----------
    repositories : sequence of RepositoryReport
        Of the section ``icechunk:``.
    stores : StoresReport, optional
        Of the section ``materialize:``.
    """

    repositories: Sequence[RepositoryReport] = ()
    stores: StoresReport | None = None

    @property
    def warnings(self) -> Iterator[str]:
        """What went wrong or is missing."""
        yield from repository_warnings(self.repositories)
        if self.stores is not None:
            yield from self.stores.warnings

    def counted_in(self, summary: RunSummary) -> RunSummary:
        """The summary of the run, with this."""
        stores = self.stores
        return replace(
            summary,
            repositories_failed=sum(bool(each.error) for each in self.repositories),
            repositories_partial=sum(each.is_left_out for each in self.repositories),
            stores_failed=0 if stores is None else stores.failed,
            stores_lacking=0 if stores is None else stores.lacking,
        )


def check_after(config: IndexDandisetsConfig) -> None:
    """Refuse what cannot be done in the end, before anything is.

    Raises
    ------
    MissingDependencyError
        When Icechunk is wanted and not installed.
    OutputError
        When the destination of stores cannot be written.
    """
    check_extra(config)
    if config.materialize is not None and config.materialize.enabled:
        config.materialize.target.store.check()


def after_assets(config: IndexDandisetsConfig, log: RunLog) -> AfterRun:
    """Do what is asked for, and say so; what goes wrong is told and breaks nothing off."""
    from .materialize_after import write_stores

    return AfterRun(refresh_repositories(config, log), write_stores(config, log))


def let_go_after(config: IndexDandisetsConfig) -> None:
    """Give back, when the run is stopped, what it holds besides its outputs."""
    if config.materialize is not None and config.materialize.enabled:
        config.materialize.target.store.let_go()
