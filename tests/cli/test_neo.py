"""``shadowzarr generate`` and ``verify`` of recordings: files and folders."""

import json
import shutil

import chained_recordings_by_hand as chained
import pytest
import recordings_by_hand as hand
from command_line import call, error_of

from shadowzarr.store.load_rfs import load_rfs
from shadowzarr.testing import RangeServer

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
    with RangeServer(folder.parent) as server:
        result = call("generate", server.url(folder.name), tmp_path / "a.json", *options)
        assert result.returncode == 0, result.stderr
        document = json.loads((tmp_path / "a.json").read_text())
        assert "imec1.ap-SYNC/zarr.json" in document["refs"]
        (url,) = document["sources"]
        assert url == server.url(f"{folder.name}/spikeglx_g0_t0.imec0.ap.bin")
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


def test_a_copy_is_compared_with_where_it_is_hosted(tmp_path):
    copy, hosted, out = tmp_path / "copy", tmp_path / "hosted" / "g0", tmp_path / "out"
    copy.mkdir()
    hand.spikeglx(copy)
    with RangeServer(tmp_path / "hosted") as server:
        arguments = ("generate", server.url("g0"), out, "--local-path", copy)
        result = call(*arguments)
        assert (result.returncode, out.exists()) == (1, False)
        assert "r_g0_t0.imec0.ap.bin" in error_of(result)
        shutil.copytree(copy, hosted)
        assert call(*arguments).returncode == 0
        (entry,) = load_rfs(out)["sources"].values()
        assert entry["size"] == (copy / "r_g0_t0.imec0.ap.bin").stat().st_size
        assert entry["etag"]
        shutil.rmtree(out)
        with (hosted / "r_g0_t0.imec0.ap.bin").open("ab") as file:
            file.write(bytes(770))
        result = call(*arguments)
        assert (result.returncode, out.exists()) == (1, False)
        assert f"{copy}/r_g0_t0.imec0.ap.bin is not a copy of {server.url('g0')}" in error_of(result)


@pytest.mark.parametrize("name", ["neuroscope", "neuroscope/session.xml"])
def test_what_neo_names_without_a_folder_is_verified(made_files, name, tmp_path):
    assert call("generate", made_files / "ephys" / name, tmp_path / "out").returncode == 0
    result = call("verify", tmp_path / "out", "--full")
    assert (result.returncode, result.stderr) == (0, "")
