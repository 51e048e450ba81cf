"""The demonstration's parts: files, archive, configuration, results; and what happens when one fails."""

import subprocess
from pathlib import Path

import pytest

from flows import demo
from flows.load_config import load_config
from shadowzarr.catalog.index_run import index_dandisets
from shadowzarr.testing.archive import ArchiveServer

pytest.importorskip("pynwb")


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def small_archive(here: Path) -> Path:
    folder = here / "small"
    (folder / "000001").mkdir(parents=True)
    (folder / "000001" / "file.nwb").write_bytes(b"not NWB")
    return folder


def run_without_prefect(server: ArchiveServer) -> int:
    _, config_path, *changes = demo.run_arguments(server.api_url)
    config = load_config(config_path, changes=changes[1:])
    return index_dandisets(config.request).exit_code


def test_results_are_shown_and_the_report_is_named(
    here: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(demo, "run_pipeline", run_without_prefect)
    assert demo.main() == 0
    shown = capfd.readouterr().out
    assert shown.count("objects equal") == 5
    assert "sub-02_ses-longterm_ecephys.nwb: 49 arrays, 2,096 chunks" in shown
    assert "data[31000:31005, 17] = [64, 70, 44, 72, 57]" in shown
    assert "resolution = nan" in shown
    assert str(here / "demo" / "output" / "report.html") in shown


def test_a_failed_run_ends_the_demonstration(
    here: Path, small_archive: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    commands: list[list[str]] = []

    def run(command: list[str], **options: object) -> subprocess.CompletedProcess[bytes]:
        commands.append(command)
        return subprocess.CompletedProcess(command, 3)

    monkeypatch.setattr(demo, "write_archive", lambda folder: [])
    monkeypatch.setattr(demo, "serve", lambda folder: ArchiveServer(small_archive).start())
    monkeypatch.setattr("flows.demo.subprocess.run", run)
    assert demo.main() == 1
    assert commands[0][1:4] == ["-m", "flows", "run"]
    assert "exit code 3" in capfd.readouterr().err


def test_a_missing_result_is_named(
    here: Path, small_archive: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(demo, "write_archive", lambda folder: [])
    monkeypatch.setattr(demo, "serve", lambda folder: ArchiveServer(small_archive).start())
    monkeypatch.setattr(demo, "run_pipeline", lambda server: 0)
    assert demo.main() == 1
    assert f"no references for {demo.MANY_CHUNKS}" in capfd.readouterr().err


def test_another_port_is_taken_when_the_usual_one_is_in_use(
    here: Path, small_archive: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with ArchiveServer(small_archive) as taken:
        port = int(taken.api_url.split(":")[2].split("/")[0])
        monkeypatch.setattr(demo, "ARCHIVE_PORT", port)
        server = demo.serve(small_archive)
        try:
            assert server.api_url != taken.api_url
        finally:
            server.close()


def test_the_usual_port_runs_the_configuration_as_it_stands_in_the_repository(here: Path) -> None:
    usual = f"http://127.0.0.1:{demo.ARCHIVE_PORT}/api"
    run, path = demo.run_arguments(usual)
    assert (run, Path(path).resolve()) == ("run", demo.CONFIG)
    assert load_config(demo.CONFIG).archive.api_url == usual


def test_another_port_is_given_on_the_command_line(here: Path) -> None:
    _, path, option, change = demo.run_arguments("http://127.0.0.1:5/api")
    assert option == "--set"
    changed, usual = load_config(path, changes=[change]), load_config(demo.CONFIG)
    assert changed.archive.api_url == "http://127.0.0.1:5/api"
    assert changed.dandisets == usual.dandisets


def test_what_an_earlier_demonstration_left_is_cleared(here: Path) -> None:
    left = here / "demo" / "output" / "old.txt"
    left.parent.mkdir(parents=True)
    left.write_text("old")
    written = demo.write_archive(Path("demo/archive"))
    assert len(written) == 5
    assert not left.exists()


def test_the_commands_that_it_stands_for_are_those_of_the_program(here: Path) -> None:
    from flows.__main__ import app

    command, bound, _ = app.parse_args(["demo"], exit_on_error=False)
    assert command.__name__ == "demo"
    command, bound, _ = app.parse_args(demo.run_arguments("http://127.0.0.1:5/api"), exit_on_error=False)
    assert command.__name__ == "run"
    assert bound.arguments["changes"] == ("archive=http://127.0.0.1:5/api",)
