"""``shadowzarr generate``: what it makes, leaves out, and never replaces."""

import json
import os
import re

import h5py
import numpy as np
import pytest
from command_line import add_times, call, error_of, listed, run

from shadowzarr.formatting import format_bytes
from shadowzarr.testing import RangeServer


@pytest.mark.parametrize("name", ["out.json", "out"])
def test_generate_says_what_it_made(made, tmp_path, name):
    result = call("generate", made / "good.h5", tmp_path / name)
    assert (result.returncode, result.stderr) == (0, f"shadowzarr: {made / 'good.h5'} is an HDF5 file\n")
    assert result.stdout.count("\n") == 1
    for part in (
        "2 groups with the root",
        "2 arrays",
        "11 chunks that are stored",
        "inline",
        "written in",
        " s",
    ):
        assert part in result.stdout


def test_generate_says_how_many_requests_a_url_took(made, tmp_path):
    with RangeServer(made) as server:
        result = call("generate", server.url("good.h5"), tmp_path / "out.json")
    assert result.returncode == 0, result.stderr
    last = result.stdout.splitlines()[-1]
    assert re.fullmatch(
        r"took [1-9]\d* requests?, [\d.]+ k?B read; [1-9]\d* nodes of metadata in \d+ rounds?", last
    )


def test_requests_for_the_format_and_for_linked_files_are_among_those_told(made, tmp_path):
    folder = tmp_path / "served"
    folder.mkdir()
    (folder / "good.h5").write_bytes((made / "good.h5").read_bytes())
    with h5py.File(folder / "linking.h5", "w") as file:
        file["elsewhere"] = h5py.ExternalLink("good.h5", "/wave")
    with RangeServer(folder) as server:
        result = call("generate", server.url("linking.h5"), tmp_path / "out.json")
        made_requests = len(server.log)
        sent = server.log.bytes_sent
    assert result.returncode == 0, result.stderr
    assert {entry.path for entry in server.log} == {"/linking.h5", "/good.h5"}
    assert f"took {made_requests} requests, {format_bytes(sent)} read; " in result.stdout


def test_the_content_decides_and_the_name_says_nothing(made, tmp_path):
    for name in ("good.tif", "good.json", "good"):
        source = tmp_path / "named" / name
        source.parent.mkdir(exist_ok=True)
        source.write_bytes((made / "good.h5").read_bytes())
        result = call("generate", source, tmp_path / f"{name}.refs")
        assert (result.returncode, result.stderr) == (0, f"shadowzarr: {source} is an HDF5 file\n")


def test_a_format_that_is_given_is_not_looked_for(made, tmp_path):
    result = call("generate", made / "good.h5", tmp_path / "out", "--format", "hdf5")
    assert (result.returncode, result.stderr) == (0, "")
    result = call("generate", made / "text.h5", tmp_path / "other", "--format", "hdf5")
    assert result.returncode == 1
    assert "text.h5 is not an HDF5 file" in error_of(result)
    assert call("generate", made / "good.h5", tmp_path / "out", "--format", "hdf6").returncode == 2


def test_a_secret_in_a_url_is_not_said(made, tmp_path):
    with RangeServer(made) as server:
        url = server.url("good.h5")
        result = call("generate", f"{url}?share=secret", tmp_path / "out.json")
        refused = call("generate", f"{url}?token=secret", tmp_path / "refused.json")
    assert result.stderr == f"shadowzarr: {url} is an HDF5 file\n"
    assert (refused.returncode, "secret" in refused.stderr + refused.stdout) == (1, False)
    assert f"{url} comes with a key, which must not be written down" in refused.stderr


def test_generate_names_what_it_leaves_out(made, tmp_path):
    result = call("generate", made / "partly.h5", tmp_path / "out.json")
    assert result.returncode == 3
    assert "left out: dataset /times: " in result.stdout
    assert (tmp_path / "out.json").exists()


def test_many_objects_left_out_are_shortened(tmp_path):
    with h5py.File(tmp_path / "many.h5", "w") as file:
        file["x"] = np.arange(500.0)
        for number in range(25):
            add_times(file, f"t{number:02}")
    for out, where in (("out", "out/refs.json"), ("out.json", "out.json")):
        lines = call("generate", tmp_path / "many.h5", tmp_path / out).stdout.splitlines()
        assert len(lines) == 22
        assert lines[-1] == f'... and 5 more; see "skipped" in {tmp_path / where}'
    lines = call("info", tmp_path / "out").stdout.splitlines()
    assert lines[-1] == "... and 5 more; --json shows all"
    assert len(json.loads(call("info", tmp_path / "out", "--json").stdout)["skipped"]) == 25


def test_generate_with_error_leaves_nothing(made, tmp_path):
    result = call("generate", made / "partly.h5", tmp_path / "out.json", "--on-unsupported", "error")
    assert result.returncode == 1
    assert "/times" in error_of(result)
    assert listed(tmp_path) == []


def test_generate_with_a_threshold(made, tmp_path):
    result = call("generate", made / "good.h5", tmp_path / "few", "--chunk-index-threshold", "5")
    assert result.returncode == 0, result.stderr
    assert list(json.loads((tmp_path / "few" / "refs.json").read_text())["indexes"]) == ["wave/data"]
    result = call("generate", made / "good.h5", tmp_path / "none", "--chunk-index-threshold", "none")
    assert result.returncode == 0, result.stderr
    assert "indexes" not in json.loads((tmp_path / "none" / "refs.json").read_text())


def test_generate_does_not_replace_unless_told(made, tmp_path):
    out = tmp_path / "out.json"
    out.write_text('{"version": 1, "refs": {}}')
    result = run("generate", made / "good.h5", out)
    assert result.returncode == 1
    assert "--force" in error_of(result)
    assert json.loads(out.read_text())["refs"] == {}
    assert run("generate", made / "good.h5", out, "--force").returncode == 0
    assert json.loads(out.read_text())["refs"]


@pytest.mark.parametrize("force", [[], ["--force"]])
def test_generate_never_replaces_another_file(made, tmp_path, force):
    for name in ("out.json", "out"):
        (tmp_path / name).write_text("mine")
        result = call("generate", made / "good.h5", tmp_path / name, *force)
        assert result.returncode == 1
        assert "only references are replaced" in error_of(result)
        assert (tmp_path / name).read_text() == "mine"


@pytest.mark.parametrize("force", [[], ["--force"]])
def test_generate_never_writes_to_its_source(made, tmp_path, force):
    source = tmp_path / "session.json"
    source.write_bytes((made / "good.h5").read_bytes())
    (tmp_path / "link").symlink_to(source)
    for arguments in ([source, source], [source, tmp_path / "link"], [f"file://{source}", source]):
        result = call("generate", *arguments, *force)
        assert result.returncode == 1
        assert "is the source itself" in error_of(result)
    for option in ("--local-path", "--local-hdf5-path"):
        local = ["http://127.0.0.1:1/x", source, option, source]
        assert "is the source itself" in error_of(call("generate", *local, *force))
    assert source.read_bytes() == (made / "good.h5").read_bytes()


@pytest.mark.parametrize("force", [[], ["--force"]])
def test_generate_never_replaces_what_is_no_document_directory(made, tmp_path, force):
    out = tmp_path / "precious"
    out.mkdir()
    (out / "data.txt").write_text("mine")
    result = call("generate", made / "good.h5", out, *force)
    assert result.returncode == 1
    error_of(result)
    assert (out / "data.txt").read_text() == "mine"


BAD_SOURCES = {
    "missing.h5": "missing.h5",
    ".": "directory",
    "text.h5": "HDF5",
    "cut.h5": "truncated",
    "http://127.0.0.1:1/file.h5": "127.0.0.1:1",
    "ftp://somewhere/file.h5": "ftp",
}


@pytest.mark.parametrize("source", sorted(BAD_SOURCES))
def test_a_bad_source_is_one_message(made, tmp_path, source):
    result = run("generate", source, tmp_path / "out", cwd=made)
    assert result.returncode == 1
    assert BAD_SOURCES[source] in error_of(result)
    assert result.stdout == ""
    assert listed(tmp_path) == []


def test_an_output_that_cannot_be_written(made, tmp_path):
    result = run("generate", made / "good.h5", tmp_path / "no" / "such" / "folder" / "out.json")
    assert result.returncode == 1
    assert "no directory" in error_of(result)
    (tmp_path / "file").write_text("")
    result = run("generate", made / "good.h5", tmp_path / "file" / "out.json")
    assert result.returncode == 1
    error_of(result)


@pytest.mark.skipif(os.geteuid() == 0, reason="the superuser may write everywhere")
def test_an_output_folder_without_permission(made, tmp_path):
    tmp_path.chmod(0o500)
    result = call("generate", made / "good.h5", tmp_path / "out.json")
    tmp_path.chmod(0o700)
    assert result.returncode == 1
    assert "not writable" in error_of(result)
