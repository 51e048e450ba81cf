"""Results are found by identifier, path and ETag."""

import pytest
from records_by_hand import record_of

from shadowzarr.catalog.find import find_records
from shadowzarr.catalog.layout import RecordKey
from shadowzarr.catalog.records import write_record
from shadowzarr.errors import UsageError


@pytest.fixture
def output(layout, asset):
    from dataclasses import replace

    long = replace(asset, path=f"sub-2/{'x' * 200}.nwb", asset_id=asset.asset_id.replace("0", "7"))
    for each in (asset, long, replace(asset, version="0.240101.1200")):
        record = record_of(each)
        key = RecordKey(each.asset_id, each.etag, "0123456789ab", 1)
        write_record(record, layout.record_path(each, key, "indexed"), scratch=layout.staging)
    return layout.folder


def found(output, wanted):
    return [(record.version, record.path) for _, record in find_records(output, wanted)]


def test_an_asset_is_found_by_all_its_names(output, asset):
    both = [("0.240101.1200", asset.path), ("draft", asset.path)]
    assert found(output, asset.asset_id) == both
    assert found(output, asset.asset_id.upper()) == both
    assert found(output, asset.path) == both
    assert found(output, "a.nwb") == both
    assert found(output, f"draft/{asset.path}") == both[1:]
    assert len(found(output, f'"{asset.etag}"')) == 3
    assert [path for _, path in found(output, f"{'x' * 200}.nwb")] == [f"sub-2/{'x' * 200}.nwb"]


@pytest.mark.parametrize("wanted", ["b.nwb", ".nwb", "sub-1", "", "/", "0b34d3dd"])
def test_nothing_else_is_found(output, wanted):
    assert found(output, wanted) == []


def test_an_output_that_is_not_there(tmp_path):
    with pytest.raises(UsageError, match="does not exist"):
        find_records(tmp_path / "nothing", "a")
