"""``python -m flows``: what each command prints, its exit code, and what it imports before it must."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from flows.__main__ import main
from flows.commands import print_schema, run_config, run_demo
from flows.load_config import load_config
from shadowzarr._installation import install_extra
from shadowzarr.catalog.index_run import index_dandisets as index_without_prefect
from shadowzarr.catalog.lock import output_lock

ROOT = Path(__file__).resolve().parents[2]


def command(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "flows", *arguments], cwd=ROOT, capture_output=True, text=True, check=False
    )


def imported_by(code: str, **environment: str) -> set[str]:
    script = f"{code}\nimport sys; print(*sorted(sys.modules))"
    done = subprocess.run(
        [sys.executable, "-c", script],
        cwd=ROOT,
        env=os.environ | environment,
        capture_output=True,
        text=True,
        check=True,
    )
    return {name.partition(".")[0] for name in done.stdout.splitlines()[-1].split()}


def test_help_imports_nothing_heavy():
    modules = imported_by(
        "from flows.__main__ import app\nimport contextlib, io\n"
        "with contextlib.redirect_stdout(io.StringIO()): app(['--help'])"
    )
    assert not modules & {"prefect", "pydantic", "h5py", "zarr", "numpy", "httpx", "ruamel"}


def test_configurations_are_checked_without_prefect_and_without_reading_libraries():
    assert not imported_by("import flows.load_config") & {"prefect", "h5py", "zarr", "httpx"}


def test_help_names_the_commands_and_the_exit_codes():
    done = command("--help")
    assert done.returncode == 0
    for word in ("run", "plan", "schema", "3 no asset failed", "143"):
        assert word in " ".join(done.stdout.split())


def test_a_plan_prints_what_would_be_done_and_does_nothing(write_config, archive, tmp_path, capsys):
    assert run_config(str(write_config()), is_plan=True) == 0
    printed = " ".join(capsys.readouterr().out.split())
    for text in ("000001", "draft", "9", "1 not NWB", "sub-0/0.nwb", "(new)", "nothing was done"):
        assert text in printed
    assert (
        "Estimate, from sizes alone (a rough one: there are no records yet): 9 assets, 1 of them" in printed
    )
    assert not (tmp_path / "out").exists()
    assert len(archive.store.log) == 0
    assert len(archive.api.log) == 2


def test_a_plan_says_when_the_output_cannot_be_written(write_config, archive, tmp_path, capsys):
    (tmp_path / "file").write_text("")
    assert run_config(str(write_config()), changes=[f"output={tmp_path}/file/out"], is_plan=True) == 1
    assert "cannot write to the output" in capsys.readouterr().err
    assert len(archive.api.log) == 0


def test_a_plan_warns_of_patterns_that_match_nothing(write_config, capsys):
    changes = ["dandisets.0.include=[sub-1/*, sub_2/*]"]
    assert run_config(str(write_config()), changes=changes, is_plan=True) == 0
    assert "warning: dandiset 000001 (draft): the include pattern 'sub_2/*' matches no asset" in " ".join(
        capsys.readouterr().err.split()
    )


def test_planning_does_not_import_prefect(write_config):
    path = str(write_config())
    modules = imported_by(
        f"from flows.commands import run_config\nassert run_config({path!r}, is_plan=True) == 0"
    )
    assert not modules & {"prefect", "h5py"}


def test_options_of_the_command_line_reach_the_configuration(write_config):
    done = command(
        "run", str(write_config()), "--plan", "--set", "dandisets.0.limit=2", "--set", "output=elsewhere"
    )
    assert done.returncode == 0, done.stderr
    assert "2 assets would be indexed into elsewhere" in done.stdout


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        ("dandisets.0.id=999999", "has no dandiset 999999"),
        ("dandisets.0.version=latest", "no published version"),
        ("dandisets.0.id=000002", "names the variable by archive.api_key_env"),
        ("output=/proc/nowhere", "cannot write to the output"),
        ("run.concurency=3", "did you mean concurrency?"),
    ],
)
def test_what_makes_a_run_impossible_is_one_message(write_config, archive, capsys, change, expected):
    archive.archive.add_dandiset("000002", embargo="EMBARGOED", owners=["owner"])
    assert run_config(str(write_config()), changes=[change]) == 1
    printed = capsys.readouterr()
    assert expected in printed.err
    assert len(printed.err.strip().splitlines()) == 1
    assert "Traceback" not in printed.err
    assert printed.out == ""


def test_an_archive_that_does_not_answer(write_config, capsys, monkeypatch):
    monkeypatch.setattr("shadowzarr.access.dandi_api.time.sleep", lambda _: None)
    assert run_config(str(write_config()), changes=["archive=http://127.0.0.1:1/api"]) == 1
    assert "cannot be reached" in capsys.readouterr().err


def test_an_output_in_use_is_told_before_prefect_starts(write_config, tmp_path, capsys):
    with output_lock(tmp_path / "out" / ".shadowzarr" / "lock"):
        assert run_config(str(write_config())) == 1
    assert "another run" in capsys.readouterr().err


def test_the_output_is_held_while_prefect_starts(write_config, tmp_path, capsys, monkeypatch):
    """A second run is refused at that moment, with the message that says who holds the output."""
    codes = []

    def prefect_starts():
        codes.append(command("run", str(write_config())))

    monkeypatch.setattr("flows.prefect_settings.prepare", prefect_starts)
    monkeypatch.setitem(sys.modules, "flows.prefect_api", None)  # what starts it
    with pytest.raises(ModuleNotFoundError):
        run_config(str(write_config()))
    (second,) = codes
    assert second.returncode == 1
    assert second.stderr.startswith(f"another run (process {os.getpid()} on ")
    assert len(second.stderr.splitlines()) == 1
    assert capsys.readouterr().err.startswith("starting Prefect (")
    with output_lock(tmp_path / "out" / ".shadowzarr" / "lock"):
        pass  # free again


def test_a_run_with_nothing_to_do_does_not_start_prefect(write_config, archive, write_file, tmp_path):
    for bad in ("cut.nwb", "text.nwb"):
        archive.archive.remove_asset("000001", f"bad/{bad}")
    config = write_config()
    index_without_prefect(load_config(config).request)
    archive.archive.remove_asset("000001", "sub-3/3.nwb")
    modules = imported_by(
        f"from flows.commands import run_config\nassert run_config({str(config)!r}) == 0", PREFECT_API_URL=""
    )
    assert not modules & {"prefect", "h5py"}
    report = (tmp_path / "out" / "report.html").read_text()
    assert "Nothing to do: all 6 assets are indexed and unchanged." in report
    assert "references, kept" in report
    assert "000001/draft/sub-3/3.nwb" in report


def test_an_interrupt_is_not_a_traceback(write_config, capsys, monkeypatch):
    def interrupted(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr("flows.commands._run_flow", interrupted)
    assert run_config(str(write_config())) == 130
    assert "run again to go on" in capsys.readouterr().err


def test_a_server_of_prefect_that_is_not_there_is_one_message(write_config):
    done = subprocess.run(
        [sys.executable, "-m", "flows", "run", str(write_config())],
        cwd=ROOT,
        env=os.environ | {"PREFECT_API_URL": "http://127.0.0.1:1/api", "PREFECT_CLIENT_MAX_RETRIES": "0"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1
    assert done.stderr.splitlines()[-1].startswith("Prefect: Failed to reach API at http://127.0.0.1:1/api")
    assert "Traceback" not in done.stderr


def test_a_run_prints_its_summary_and_where_the_report_is(prefect_server, write_config, tmp_path, capsys):
    assert run_config(str(write_config())) == 1
    printed = capsys.readouterr()
    words = " ".join(printed.out.split())
    for text in (
        "indexed and verified │ 7",
        "failed │ 2",
        "bad/text.nwb index: the file is not",
        "report.html",
        "of it Prefect's start │",
    ):
        assert text in words
    assert "9 assets to index" in printed.err
    assert printed.err.startswith("starting Prefect (")
    assert "/download/" not in printed.err + printed.out
    assert "Traceback" not in printed.err + printed.out
    report = (tmp_path / "out" / "report.html").read_text()
    assert "config.yaml" in report


def test_a_run_as_json_lines(prefect_server, write_config, tmp_path, capsys):
    config = str(write_config())
    changes = ["dandisets.0.include=[sub-0/*, bad/text.nwb]"]
    assert run_config(config, changes=changes, is_plan=True, as_json_lines=True) == 0
    (plan,) = map(json.loads, capsys.readouterr().out.splitlines())
    assert (plan["event"], plan["assets_total"], plan["estimate"]["basis"]) == ("plan", 2, "sizes")
    assert run_config(config, changes=changes, as_json_lines=True) == 1
    printed = capsys.readouterr()
    events = [json.loads(line) for line in printed.out.splitlines()]
    assert [each["event"] for each in events if each["event"] != "progress"] == [
        "begin",
        "asset",
        "asset",
        "end",
    ]
    assert sorted(each["outcome"] for each in events if each["event"] == "asset") == ["failed", "indexed"]
    assert events[-2]["event"] == "progress"
    assert (events[-2]["assets_done"], events[-2]["failures"]) == (2, 1)
    assert events[-2]["requests"] > 0
    end = events[-1]
    assert (end["exit_code"], end["outcomes"]) == (1, {"failed": 1, "indexed": 1})
    assert end["reasons"] == ["exit code 1: 1 asset failed"]
    assert end["report"] == str(tmp_path / "out" / "report.html")


def test_what_makes_a_run_impossible_is_a_json_line_too(write_config, capsys):
    assert run_config(str(write_config()), changes=["run.zzz=1"], as_json_lines=True) == 1
    printed = capsys.readouterr()
    (line,) = map(json.loads, printed.out.splitlines())
    assert (line["event"], line["exit_code"]) == ("error", 1)
    assert line["message"] == printed.err.strip()


def test_a_server_is_told_of_a_run_with_nothing_to_do_too(
    prefect_server, write_config, archive, monkeypatch, capsys
):
    from prefect.client.orchestration import get_client

    def flow_runs():
        with get_client(sync_client=True) as client:
            return {run.id: run for run in client.read_flow_runs()}

    monkeypatch.setenv("PREFECT_API_URL", prefect_server)
    before = flow_runs()
    assert run_config(str(write_config()), changes=["dandisets.0.include=zzz/*"]) == 0
    (run,) = (run for key, run in flow_runs().items() if key not in before)
    assert (run.state.name, run.state.message) == ("Completed", "0 assets indexed")
    assert "the include pattern 'zzz/*' matches no asset" in " ".join(capsys.readouterr().err.split())
    assert len(archive.api.log) == 2


def test_failures_are_told_once_where_both_streams_are_one(
    prefect_server, write_config, tmp_path, monkeypatch
):
    with (tmp_path / "log").open("w+") as log:
        monkeypatch.setattr("sys.stdout", log)
        monkeypatch.setattr("sys.stderr", log)
        assert run_config(str(write_config())) == 1
        log.seek(0)
        printed = log.read()
    assert printed.count("bad/text.nwb") == printed.count("bad/cut.nwb") == 1
    assert "report.html" in printed


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["run"], "run needs CONFIG (see python -m flows run --help)"),
        (["rnu", "x"], "(see python -m flows --help)"),
        (["run", "x", "--plam"], "(see python -m flows run --help)"),
        (["schema"], "schema needs FLOW (see python -m flows schema --help)"),
    ],
)
def test_a_wrong_call_is_one_line(arguments, message, capsys):
    assert main(arguments) == 2
    printed = capsys.readouterr()
    assert printed.out == ""
    assert printed.err.startswith("flows: error: ")
    assert printed.err.endswith(f"{message}\n")
    assert printed.err.count("\n") == 1


@pytest.mark.parametrize("missing", ["prefect", "pydantic", "jinja2"])
def test_without_the_extra_it_is_named(missing, write_config, capsys, monkeypatch):
    config = str(write_config())
    monkeypatch.setitem(sys.modules, missing, None)
    for call in (
        lambda: run_config(config),
        lambda: run_config(config, is_plan=True),
        lambda: print_schema("index_dandisets"),
        run_demo,
    ):
        assert call() == 1
        printed = capsys.readouterr()
        assert printed.err.startswith(f"this needs {missing}, which is not installed; ")
        assert printed.err.endswith(f" {install_extra('pipeline')}\n")


def test_the_demonstration_names_what_it_needs_more(capsys, monkeypatch):
    monkeypatch.setitem(sys.modules, "pynwb", None)
    assert run_demo() == 1
    assert capsys.readouterr().err.endswith(f"{install_extra('nwb')}\n")


def test_the_schema_of_a_flow(capsys):
    assert print_schema("index_dandisets") == 0
    assert json.loads(capsys.readouterr().out)["additionalProperties"] is False


def test_an_unknown_flow_names_the_nearest(capsys):
    assert print_schema("index_dandiset") == 1
    assert "did you mean index_dandisets?" in capsys.readouterr().err


def test_a_reader_that_has_seen_enough_is_no_error():
    command = [sys.executable, "-m", "flows", "schema", "index_dandisets"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        process.stdout.close()
        assert process.stderr.read() == b""
    assert process.returncode == 1


def test_one_dandiset_needs_no_configuration(archive, tmp_path, capsys):
    arguments = ["index", "000001", str(tmp_path / "out"), "--archive", archive.api_url, "--limit", "3"]
    assert main([*arguments, "--set", "run.concurrency=2", "--plan"]) == 0
    printed = " ".join(capsys.readouterr().out.split())
    assert "3 assets would be indexed" in printed


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["6", "out"], "command line, DANDISET: found '6', expected six digits, such as"),
        (["000006", "out", "--limit", "0"], "command line, --limit: found 0"),
        (["000006", ""], "command line, OUTPUT: found"),
        (
            ["000006", "out", "--archive", "dandy"],
            "command line, --archive: found 'dandy', expected dandi or",
        ),
        (["000006", "out", "--set", "verification.mode=ful"], "did you mean full?"),
    ],
)
def test_one_dandiset_that_is_asked_for_wrongly(arguments, says, capsys):
    assert main(["index", *arguments]) == 1
    assert says in capsys.readouterr().err


def test_ctrl_c_is_one_line_in_every_command(monkeypatch, capsys):
    def interrupted(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr("flows.catalog_commands.questions", interrupted)
    assert main(["catalog", "questions"]) == 130
    assert capsys.readouterr().err == "flows: interrupted; the same command begins anew\n"


def test_the_version_is_that_of_the_library(capsys):
    assert main(["--version"]) == 0
    assert capsys.readouterr().out.strip() == "0.1.0"


def test_json_lines_of_a_question_have_two_names(monkeypatch):
    asked = []
    monkeypatch.setattr("flows.catalog_commands.query", lambda *_, **how: asked.append(how["form"]) or 0)
    assert main(["catalog", "query", "out", "SELECT 1", "--json"]) == 0
    assert main(["catalog", "query", "out", "SELECT 1", "--format", "jsonl"]) == 0
    assert asked == ["jsonl", "jsonl"]
