"""``python -m flows catalog site`` and ``serve``, and the page that a run leaves."""

import re
import signal
import subprocess
import sys
import urllib.request
from pathlib import Path

import pytest
from site_by_hand import asset, publish_assets

from flows import site_after
from flows.__main__ import main
from flows.finish_run import finish_run
from flows.load_config import load_config
from shadowzarr.catalog.index_run import RunLog, index_dandisets, output_session
from shadowzarr.catalog.layout import layout_at
from shadowzarr.catalog.lock import output_lock

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def output(tmp_path):
    layout = layout_at(tmp_path / "out")
    publish_assets(layout, [asset(1)])
    return layout


def test_the_page_is_written_and_told(output, built, capsys):
    assert main(["catalog", "site", str(output.folder)]) == 0
    printed = capsys.readouterr().out
    assert f"page: {output.folder}/index.html\n" in printed
    assert f"python -m flows catalog serve {output.folder}" in printed
    assert main(["catalog", "site", str(output.folder)]) == 0
    assert "(nothing has changed)" in capsys.readouterr().out
    assert not list((output.folder / ".shadowzarr").glob("staging/*"))


def test_what_stands_in_the_way_is_one_line(output, built, tmp_path, monkeypatch, capsys):
    (tmp_path / "bare").mkdir()
    for arguments, message in (
        (["site", str(tmp_path / "no")], "does not exist"),
        (["site", str(tmp_path / "bare")], "catalog rebuild"),
        (["serve", str(tmp_path / "no")], "does not exist"),
        (["serve", str(tmp_path / "bare")], "has no page yet; python -m flows catalog site"),
        (["serve", "s3://bucket/out"], "hands out its files itself"),
        (["serve", str(tmp_path / "no"), "--allow-origin", "*"], "does not exist"),
        (["serve", str(tmp_path / "bare"), "--allow-origin", "http://me/page"], "is no origin; expected"),
    ):
        assert main(["catalog", *arguments]) == 1
        (line,) = capsys.readouterr().err.splitlines()
        assert message in line
    with output_lock(output.lock):
        assert main(["catalog", "site", str(output.folder)]) == 1
    assert "another run" in capsys.readouterr().err
    monkeypatch.undo()
    monkeypatch.setattr("shadowzarr.catalog.site.built_page.ASSETS", tmp_path / "nothing")
    monkeypatch.setattr("shadowzarr.catalog.site.built_page.built_page.__defaults__", (tmp_path / "nothing",))
    assert main(["catalog", "site", str(output.folder)]) == 1
    (line,) = capsys.readouterr().err.splitlines()
    assert "run `make site-assets`" in line


def test_an_output_is_handed_out_until_ctrl_c(output, built):
    assert main(["catalog", "site", str(output.folder)]) == 0
    command = [sys.executable, "-m", "flows", "catalog", "serve", str(output.folder), "--port", "0"]
    with subprocess.Popen(
        command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as served:
        url = re.match(r"http://127\.0\.0\.1:\d+/", served.stdout.readline())[0]
        with urllib.request.urlopen(url) as answer:
            assert answer.headers["Content-Type"] == "text/html; charset=utf-8"
            assert answer.read() == (output.folder / "index.html").read_bytes()
        port = url.split(":")[2].strip("/")
        again = subprocess.run(
            [*command[:-1], port], cwd=ROOT, capture_output=True, text=True, timeout=60, check=False
        )
        assert (again.returncode, again.stderr.count("\n")) == (1, 1)
        assert f"port {port}" in again.stderr
        assert "--port" in again.stderr
        served.send_signal(signal.SIGINT)
        assert served.wait(30) == 0
        assert served.stderr.read() == ""


def test_pages_of_ones_own_may_read_any_folder(tmp_path):
    (tmp_path / "refs.json").write_text("{}")
    command = [sys.executable, "-m", "flows", "catalog", "serve", str(tmp_path), "--port", "0"]
    command += ["--allow-origin", "http://localhost:3000", "--allow-origin", "http://localhost:5173"]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) as served:
        try:
            url = re.match(r"http://127\.0\.0\.1:\d+/", served.stdout.readline())[0]
            for origin in ("http://localhost:3000", "http://localhost:5173"):
                request = urllib.request.Request(f"{url}refs.json", headers={"Origin": origin})
                with urllib.request.urlopen(request) as answer:
                    assert answer.headers["Access-Control-Allow-Origin"] == origin
        finally:
            served.send_signal(signal.SIGINT)


def finished(config_path, *changes):
    """Index by a configuration, and end the run as a flow does; gives its warnings."""
    config = load_config(config_path, changes=["dandisets.0.include=[sub-1/*]", *changes])
    index_dandisets(config.request)
    with output_session(config.request):
        return finish_run(config, RunLog()).warnings


def test_a_run_leaves_a_page(write_config, built, tmp_path):
    assert finished(write_config()) == []
    index = (tmp_path / "out" / "index.html").read_text()
    data = tmp_path / "out" / re.search(r'shadowzarr-catalog" content="([^"]*)"', index)[1]
    assert "sub-1/1.nwb" in (data / "assets-0.json").read_text()
    assert '"report":"report.html"' in (data / "catalog.json").read_text()
    (tmp_path / "out" / "index.html").unlink()
    assert (
        finished(write_config("", name="off.yaml"), f"output={{folder: {tmp_path / 'out'}, site: false}}")
        == []
    )
    assert not (tmp_path / "out" / "index.html").exists()


def test_a_run_without_the_page_says_so_in_a_line_and_does_not_fail(output, tmp_path, monkeypatch):
    monkeypatch.setattr("shadowzarr.catalog.site.built_page.built_page.__defaults__", (tmp_path / "nothing",))
    (warning,) = site_after.update_site(output)
    assert "\n" not in warning
    assert warning.startswith("the page of the catalogue is not up to date: ")
    assert "run `make site-assets`" in warning
    assert site_after.update_site(layout_at(tmp_path / "nothing-indexed")) == []
