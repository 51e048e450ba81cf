"""Numbers for Prometheus: scraped while a run lasts, and in a file after it."""

import socket
import threading
import urllib.request

import pytest
from served_prefect import free_port

from flows.load_config import load_config
from flows.metrics import RunMetrics
from flows.metrics_section import MetricsSection
from shadowzarr.errors import ConfigError

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::ResourceWarning")


def numbers(text: str) -> dict[tuple[str, ...], float]:
    """Samples of a text by their names and the values of their labels."""
    from prometheus_client.parser import text_string_to_metric_families

    return {
        (sample.name, *(value for key, value in sorted(sample.labels.items()) if key != "flow")): sample.value
        for family in text_string_to_metric_families(text)
        for sample in family.samples
    }


@pytest.fixture
def scraping():
    """Scrapes a port until it is gone; what was scraped."""
    texts, ended = [], threading.Event()

    def scrape(port: int) -> None:
        while not ended.wait(0.05):
            try:
                with urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics", timeout=5) as answer:
                    texts.append(numbers(answer.read().decode()))
            except OSError:
                continue

    threads = []

    def start(port: int):
        threads.append(threading.Thread(target=scrape, args=(port,)))
        threads[0].start()
        return texts

    yield start
    ended.set()
    threads[0].join()


def test_a_run_is_scraped_and_leaves_a_file(prefect_server, write_config, scraping, tmp_path):
    from flows.index_dandisets import index_dandisets

    port, file = free_port(), tmp_path / "shadowzarr.prom"
    scraped = scraping(port)
    config = load_config(write_config(f"metrics: {{port: {port}, file: '{file}'}}\n"))
    summary = index_dandisets(config)
    found = numbers(file.read_text())
    assert found["shadowzarr_assets_planned",] == 9
    assert found["shadowzarr_assets_total", "indexed"] == 7
    assert found["shadowzarr_assets_total", "failed"] == 2
    assert found["shadowzarr_failures_total", "DamagedSourceError", "index"] == 1
    requests = sum(record.statistics.get("requests", 0) for record in summary.records)
    assert found["shadowzarr_requests_total",] == requests > 0
    assert found["shadowzarr_read_bytes_total",] > 0
    sizes = sum(record.size for record in summary.records if record.error is None)
    assert found["shadowzarr_source_bytes_total",] == sizes
    assert found["shadowzarr_stage_seconds_count", "verify"] == 7
    assert found["shadowzarr_stage_seconds_bucket", "+Inf", "index"] == 7
    assert found["shadowzarr_run_exit_code",] == summary.exit_code == 1
    assert (
        found["shadowzarr_run_ended_timestamp_seconds",] >= found["shadowzarr_run_started_timestamp_seconds",]
    )
    during = [each for each in scraped if each["shadowzarr_run_exit_code",] == -1]
    assert during
    assert max(each.get(("shadowzarr_assets_total", "indexed"), 0) for each in during) > 0


def test_what_stands_in_the_way_is_a_warning(capsys, tmp_path):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        metrics = RunMetrics("backfill", MetricsSection(port=port, file=str(tmp_path / "none" / "a.prom")))
        with metrics.served():
            metrics.end(0)
            metrics.end(0)  # the file is written again and again, and told of once
    served, written = capsys.readouterr().err.splitlines()
    assert served == (
        f"warning: cannot serve metrics at 127.0.0.1:{port}: Address already in use; "
        "the run goes on without: metrics.port names another"
    )
    assert written.startswith(f"warning: cannot write metrics to {tmp_path}/none/a.prom: No such file")


@pytest.mark.parametrize(
    ("section", "message"), [("{}", "expected port or file, or both"), ("{file: a.txt}", "metrics.file")]
)
def test_what_is_no_place_for_metrics(write_config, section, message):
    with pytest.raises(ConfigError, match=message):
        load_config(write_config(f"metrics: {section}\n"))
