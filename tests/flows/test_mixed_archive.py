"""Three nights over dandisets with bad assets of ten kinds; `benchmarks.mixed_archive` has a thousand."""

import pytest

from benchmarks.mixed_archive import (
    EXPECTED,
    SERVED,
    build,
    config_text,
    read_records,
    wrong_causes,
)
from flows.load_config import load_config
from shadowzarr.catalog.index_run import index_dandisets as index_without_prefect
from shadowzarr.catalog.tables.query import ask

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::ResourceWarning")

ASSETS = 30


def test_three_nights_over_good_and_bad_assets(prefect_server, tmp_path):
    from flows.index_dandisets import index_dandisets

    made = build(tmp_path / "files", ASSETS, bad=len(EXPECTED))
    output = tmp_path / "out"
    with made.server as server:
        (tmp_path / "config.yaml").write_text(config_text(server.api_url, output))
        config = load_config(tmp_path / "config.yaml")

        summary = index_dandisets(config)
        assert summary.outcome_counts == {"indexed": ASSETS - len(EXPECTED), "failed": len(EXPECTED)}
        assert wrong_causes(made, output) == []
        report = (output / "report.html").read_text()
        assert [path for _, path in made.bad if path not in report] == []
        failed = ask(output, "SELECT dandiset, asset_path, error_kind FROM assets WHERE outcome = 'failed'")
        assert {(place, path): kind for place, path, kind in failed.rows} == {
            place: EXPECTED[kind] for place, kind in made.bad.items()
        }

        at_api, at_store, before = len(server.api.log), len(server.store.log), read_records(output)
        second = index_without_prefect(config.request)
        passing = {place for place, kind in made.bad.items() if kind in SERVED}
        assert {(record.dandiset, record.path) for record in second.records} == passing
        assert second.plan_counts["quarantined"] == len(EXPECTED) - len(SERVED)
        assert second.plan_counts["unchanged"] == ASSETS - len(EXPECTED)
        asked = [entry.path for entry in server.api.log.entries[at_api:]]
        assert sum(path.startswith("/api/dandisets/") for path in asked) == 2 * 3
        ids = {record.asset_id for place, record in before.items() if place not in passing}
        assert not [path for path in asked if any(asset_id in path for asset_id in ids)]
        objects = {server.object_path(server.archive.asset_at(*place)) for place in passing}
        read = {entry.path.lstrip("/") for entry in server.store.log.entries[at_store:]}
        assert read <= objects

        (changed,) = made.replace(1, tmp_path / "files")
        third = index_without_prefect(config.request)
        assert {(record.dandiset, record.path) for record in third.records} == {changed, *passing}
        assert [record.outcome for record in third.records if record.path == changed[1]] == ["indexed"]
