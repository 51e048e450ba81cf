"""Numbers of a run for Prometheus: served while it lasts, and written to a file that stays.

Metrics are never a reason for a run to fail: what stands in their way is a warning.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Iterator

from prometheus_client import (
    CollectorRegistry,
    Counter,
    Gauge,
    Histogram,
    start_http_server,
    write_to_textfile,
)

from shadowzarr.catalog.records import IndexRecord

from .metrics_section import MetricsSection
from .warning_lines import warn

FILE_SECONDS = 5.0
"""How often the file is written."""
SECONDS = (0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 1800)
"""Upper bounds of the histogram's buckets: from a small file on this machine to hours of reading."""


class RunMetrics:
    """Counts what a run has done.

    Parameters
    ----------
    flow : str
        A label of all numbers.
    section : MetricsSection, optional
        Where they are; nowhere without it.
    """

    def __init__(self, flow: str, section: MetricsSection | None = None) -> None:
        self._section = section
        self._following = 0.0
        self._is_unwritten = False
        self.registry = registry = CollectorRegistry()

        def counter(name: str, text: str, *labels: str) -> Counter:
            return Counter(f"shadowzarr_{name}", text, ["flow", *labels], registry=registry)

        self._flow = flow
        self._planned = Gauge(
            "shadowzarr_assets_planned", "Assets to be indexed in this run.", ["flow"], registry=registry
        )
        self._assets = counter("assets", "Assets that have ended.", "outcome")
        self._failures = counter("failures", "Assets that failed.", "stage", "kind")
        self._requests = counter("requests", "Requests for bytes to index assets.")
        self._bytes_read = counter("read_bytes", "Bytes read to index assets.")
        self._source = counter("source_bytes", "Bytes of the files of assets that were indexed.")
        self._transient = counter(
            "transient_errors", "Errors after which an asset is tried again, if it may be."
        )
        self._seconds = Histogram(
            "shadowzarr_stage_seconds",
            "How long a stage of an asset took.",
            ["flow", "stage"],
            registry=registry,
            buckets=SECONDS,
        )
        self._started = Gauge(
            "shadowzarr_run_started_timestamp_seconds", "When the run began.", ["flow"], registry=registry
        )
        self._ended = Gauge(
            "shadowzarr_run_ended_timestamp_seconds", "When it ended; 0 before.", ["flow"], registry=registry
        )
        self._code = Gauge(
            "shadowzarr_run_exit_code", "How it ended; -1 before.", ["flow"], registry=registry
        )
        self._started.labels(flow).set_to_current_time()
        self._ended.labels(flow).set(0)
        self._code.labels(flow).set(-1)

    def begin(self, planned: int) -> None:
        """Note how many assets there are to do."""
        self._planned.labels(self._flow).set(planned)
        self._write()

    def asset_ended(self, record: IndexRecord, *, transient_errors: int = 0) -> None:
        """Count an asset; ``transient_errors`` are those since the last one."""
        flow = self._flow
        self._assets.labels(flow, record.outcome).inc()
        if record.error is not None:
            self._failures.labels(flow, record.error.stage, record.error.kind).inc()
        else:
            self._source.labels(flow).inc(record.size)
        self._requests.labels(flow).inc(record.statistics.get("requests", 0))
        self._bytes_read.labels(flow).inc(record.statistics.get("bytes_read", 0))
        self._transient.labels(flow).inc(transient_errors)
        for stage in record.stages:
            self._seconds.labels(flow, stage.stage).observe(stage.seconds)
        if time.monotonic() >= self._following:
            self._write()

    def end(self, exit_code: int) -> None:
        """Note how the run ended."""
        self._ended.labels(self._flow).set_to_current_time()
        self._code.labels(self._flow).set(exit_code)
        self._write()

    @contextlib.contextmanager
    def served(self) -> Iterator[None]:
        """Serve them meanwhile, where that is asked for."""
        section = self._section
        if section is None or section.port is None:
            yield
            return
        try:
            server, thread = start_http_server(section.port, section.host, registry=self.registry)
        except OSError as error:
            warn(
                f"cannot serve metrics at {section.host}:{section.port}: {error.strerror or error}; the run "
                "goes on without: metrics.port names another"
            )
            yield
            return
        try:
            yield
        finally:
            server.shutdown()
            server.server_close()
            thread.join()

    def _write(self) -> None:
        self._following = time.monotonic() + FILE_SECONDS
        if self._section is None or self._section.file is None:
            return
        try:
            write_to_textfile(self._section.file, self.registry)
            self._is_unwritten = False
        except OSError as error:
            if self._is_unwritten:
                return  # told already
            self._is_unwritten = True
            warn(
                f"cannot write metrics to {self._section.file}: {error.strerror or error}; the run goes on "
                "without: metrics.file names another"
            )
