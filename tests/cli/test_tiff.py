"""A TIFF file through the same door: generate, info and verify."""

import json

import numpy as np
import pytest
from command_line import call, error_of

from shadowzarr.testing import RangeServer

tifffile = pytest.importorskip("tifffile", reason="the extra tiff is not installed")


@pytest.fixture(scope="module")
def stack(tmp_path_factory):
    folder = tmp_path_factory.mktemp("tiff")
    values = np.arange(5 * 30 * 20, dtype="u2").reshape(5, 30, 20)
    tifffile.imwrite(folder / "stack.tif", values, photometric="minisblack", metadata={"axes": "TYX"})
    return folder / "stack.tif"


@pytest.mark.parametrize("name", ["out", "out.json"])
def test_a_tiff_file_is_told_by_its_content(stack, tmp_path, name):
    source = tmp_path / "stack.bin"
    source.write_bytes(stack.read_bytes())
    result = call("generate", source, tmp_path / name)
    assert (result.returncode, result.stderr) == (0, f"shadowzarr: {source} is a TIFF file\n")
    assert "1 array, 5 chunks" in result.stdout
    assert "uint16" in call("info", tmp_path / name).stdout
    for options in ([], ["--full"], ["--strict", "--against", stack]):
        result = call("verify", tmp_path / name, *options)
        assert (result.returncode, result.stderr) == (0, "")
        assert result.stdout.startswith("equal")


def test_verify_names_what_differs(stack, tmp_path):
    call("generate", stack, tmp_path / "out.json")
    document = json.loads((tmp_path / "out.json").read_text())
    refs = document["refs"]
    refs["0/c/0/0/0"], refs["0/c/1/0/0"] = refs["0/c/1/0/0"], refs["0/c/0/0/0"]
    (tmp_path / "out.json").write_text(json.dumps(document))
    result = call("verify", tmp_path / "out.json")
    assert result.returncode == 1
    assert "/0: values: original 0 at (0, 0, 0)" in result.stdout


@pytest.mark.parametrize("option", ["--contiguous-chunk-bytes=4096", "--allow-external"])
def test_options_of_another_format_are_refused_by_name(stack, tmp_path, option):
    result = call("generate", stack, tmp_path / "out", option)
    assert result.returncode == 2
    assert error_of(result) == (
        f"{option.partition('=')[0]}: not for a TIFF file (see shadowzarr generate --help)"
    )
    assert not (tmp_path / "out").exists()


def test_a_local_copy_is_read_in_place_of_a_url(stack, tmp_path):
    with RangeServer(stack.parent) as server:
        url = server.url("stack.tif")
        result = call("generate", url, tmp_path / "out", "--local-path", stack)
        assert result.returncode == 0, result.stderr
        assert sum(entry.sent for entry in server.log) < 100
        (source,) = json.loads((tmp_path / "out" / "refs.json").read_text())["sources"].items()
        assert source[0] == url
        assert source[1]["size"] == stack.stat().st_size
        assert source[1]["etag"].startswith('"')
        assert call("verify", tmp_path / "out", "--full").returncode == 0
        (tmp_path / "cut.tif").write_bytes(stack.read_bytes()[:-1])
        result = call("generate", url, tmp_path / "other", "--local-path", tmp_path / "cut.tif")
    assert result.returncode == 1
    assert "cut.tif is not a copy of" in error_of(result)


def test_a_tiff_file_in_place_of_references(stack):
    result = call("info", stack)
    assert result.returncode == 1
    assert "is a TIFF file, not references to one; make references first" in error_of(result)
    assert f"shadowzarr generate {stack} OUT" in error_of(result)
