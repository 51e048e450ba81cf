"""A configuration of folders and lists alone: planned, run under Prefect, and told in the report."""

import numpy as np
import pytest
import recordings_by_hand as hand

from flows.commands import run_config
from flows.load_config import load_config
from shadowzarr.catalog.records import read_record

tifffile = pytest.importorskip("tifffile", reason="the extra tiff is not installed")
pytest.importorskip("neo", reason="the extra neo is not installed")

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::ResourceWarning")


@pytest.fixture
def config(tmp_path, write_file):
    """Names an archive that does not answer, which nobody asks."""
    folder = tmp_path / "raw data"
    write_file(folder / "a.h5", seed=1)
    tifffile.imwrite(folder / "b.tif", np.arange(600, dtype="u2").reshape(20, 30), photometric="minisblack")
    (folder / "run_g0").mkdir()
    hand.spikeglx(folder / "run_g0")
    (tmp_path / "more.txt").write_text("raw data/b.tif\n")
    path = tmp_path / "config.yaml"
    path.write_text(
        "flow: index_dandisets\narchive: http://127.0.0.1:1/api\n"
        f"folders:\n  - path: {folder}\n    name: raw\n    exclude: '*.txt'\n"
        f"manifests: [{tmp_path / 'more.txt'}]\n"
        f"output: {tmp_path / 'out'}\nrun: {{concurrency: 2, retries: 1, timeout: 60}}\n"
    )
    return path


def test_the_plan_of_folders_and_lists(config, tmp_path, capsys):
    assert run_config(str(config), is_plan=True) == 0
    printed = capsys.readouterr()
    out = " ".join(printed.out.split())
    assert "'*.txt' matches no asset" in printed.err
    for part in (
        "raw",
        "more",
        "b.tif",
        "run_g0",
        "(new)",
        "4 assets would be indexed",
    ):
        assert part in out
    assert not (tmp_path / "out").exists()


def test_the_flow_does_folders_and_lists(prefect_server, config, tmp_path):
    from flows.index_dandisets import index_dandisets

    summary = index_dandisets(load_config(config))
    assert (summary.exit_code, summary.outcome_counts) == (0, {"indexed": 4})
    found = [read_record(path) for path in (tmp_path / "out" / "collections").rglob("*.record.json")]
    assert sorted((record.dandiset, record.path) for record in found) == [
        ("more", "raw data/b.tif"),
        ("raw", "a.h5"),
        ("raw", "b.tif"),
        ("raw", "run_g0"),
    ]
    assert all(record.verification.equal for record in found)
    report = (tmp_path / "out" / "report.html").read_text()
    assert "2 collections of files" in report
    assert "folders and manifests" in report
    assert "127.0.0.1:1" not in report
    assert index_dandisets(load_config(config)).records == []
