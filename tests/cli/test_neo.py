"""``shadowzarr generate`` and ``verify`` of recordings: files and folders."""

import json

import chained_recordings_by_hand as chained
import pytest
from command_line import call, error_of

pytest.importorskip("neo")


@pytest.fixture
def folder(made_files):
    return made_files / "ephys" / "spikeglx_g0"


def test_a_folder_is_recognized_and_verified(folder, tmp_path):
    result = call("generate", folder, tmp_path / "out")
    assert (result.returncode, result.stderr) == (0, f"shadowzarr: {folder} is a recording that NEO reads\n")
    assert "1 group with the root, 1 array, 1 chunk" in result.stdout
    result = call("verify", tmp_path / "out", "--full")
    assert (result.returncode, result.stderr) == (0, "")


def test_streams_and_segments_are_chosen(made_files, folder, tmp_path):
    options = ("--stream", "imec1.ap-SYNC", "--local-path", folder)
    result = call("generate", "https://host/data/g0", tmp_path / "a.json", *options)
    assert result.returncode == 0, result.stderr
    document = json.loads((tmp_path / "a.json").read_text())
    assert "imec1.ap-SYNC/zarr.json" in document["refs"]
    assert list(document["sources"]) == ["https://host/data/g0/spikeglx_g0_t0.imec0.ap.bin"]
    wcp = made_files / "ephys" / "winwcp.wcp"
    result = call("generate", wcp, tmp_path / "b.json", "--block", "0", "--segment", "1")
    assert result.returncode == 0, result.stderr
    refs = json.loads((tmp_path / "b.json").read_text())["refs"]
    assert [key for key in refs if key.endswith("0/zarr.json")] == [
        "block0/zarr.json",
        "block0/segment1/0/zarr.json",
    ]


def test_what_cannot_be_is_one_error(made_files, folder, tmp_path):
    result = call("generate", folder, tmp_path / "out", "--stream", "x")
    assert result.returncode == 1
    assert "has no stream 'x'; its streams are 'imec1.ap', 'imec1.ap-SYNC'" in error_of(result)
    result = call(
        "generate", made_files / "ephys" / "biocam_inverted.brw", tmp_path / "out", "--format", "neo"
    )
    assert result.returncode == 1
    assert "inverted" in error_of(result)
    result = call("generate", folder, tmp_path / "out", "--contiguous-chunk-bytes", "5")
    assert result.returncode == 2
    assert "--contiguous-chunk-bytes: not for a recording that NEO reads" in error_of(result)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("write", [chained.spike2, chained.axona, chained.axograph])
def test_recordings_in_chains_and_columns_are_recognized_and_verified(write, tmp_path):
    path = write(tmp_path)["filename"]
    assert call("generate", path, tmp_path / "out").returncode == 0
    result = call("verify", tmp_path / "out", "--full")
    assert (result.returncode, result.stderr) == (0, "")
    assert "1 array" in result.stdout
