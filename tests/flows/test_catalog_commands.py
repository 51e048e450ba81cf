"""``python -m flows catalog``: rebuild, query, questions and find."""

import csv
import json
import shlex

import pytest

from flows.__main__ import EXAMPLES, main
from flows.load_config import load_config
from shadowzarr.catalog.index_run import index_dandisets
from shadowzarr.catalog.lock import output_lock


@pytest.fixture
def output(write_config):
    request = load_config(write_config(), changes=["dandisets.0.include=[sub-1/*, bad/text.nwb]"]).request
    index_dandisets(request)
    return request.public


def test_a_run_leaves_a_catalogue_that_can_be_asked_and_made_anew(output, capsys):
    folder = str(output.folder)
    assert (
        main(["catalog", "query", folder, "SELECT asset_path, outcome FROM assets", "--format", "csv"]) == 0
    )
    rows = list(csv.reader(capsys.readouterr().out.splitlines()))
    assert rows == [["asset_path", "outcome"], ["bad/text.nwb", "failed"], ["sub-1/1.nwb", "indexed"]]
    assert main(["catalog", "rebuild", folder]) == 0
    assert "2 assets, 5 objects, 0 left out" in capsys.readouterr().out
    assert main(["catalog", "query", folder, "--question", "failures", "--format", "jsonl"]) == 0
    assert json.loads(capsys.readouterr().out)["error_kind"] == "NotHDF5Error"
    assert main(["catalog", "query", folder, "SELECT path, shape FROM objects WHERE path = 'counts'"]) == 0
    printed = capsys.readouterr().out
    assert "counts" in printed
    assert printed.endswith("1 row\n")


def test_the_catalogue_of_a_private_output_is_made_anew_as_such(output, capsys):
    folder = str(output.folder)
    assert main(["catalog", "rebuild", folder, "--private"]) == 0
    before = (output.folder / "catalog" / "catalog.json").read_bytes()
    assert main(["catalog", "rebuild", folder]) == 1
    assert "it is made anew with --private" in capsys.readouterr().err
    assert (output.folder / "catalog" / "catalog.json").read_bytes() == before


@pytest.mark.parametrize("example", EXAMPLES["catalog query"])
def test_examples_of_the_help_are_answered(example, output, capsys):
    arguments = shlex.split(example.replace("demo/output", str(output.folder)))
    assert main(arguments) == 0
    assert capsys.readouterr().out or "--json" in arguments


def test_an_asset_is_found(output, archive, capsys):
    asset = archive.archive.asset_at("000001", "sub-1/1.nwb")
    for wanted in (asset.asset_id, "1.nwb"):
        assert main(["catalog", "find", str(output.folder), wanted]) == 0
        printed = capsys.readouterr().out
        assert f"{output.folder}/dandisets/000001/draft/sub-1/1.nwb.shadowzarr" in printed
    assert main(["catalog", "find", str(output.folder), "text.nwb", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["error"]["kind"] == "NotHDF5Error"
    assert main(["catalog", "find", str(output.folder), "nothing"]) == 1
    assert "no record of 'nothing'" in capsys.readouterr().err


def test_what_is_asked_wrongly_is_one_line(output, tmp_path, capsys):
    for arguments, message in (
        (["query", str(output.folder)], "--question NAME"),
        (["query", str(output.folder), "DROP VIEW assets"], "reads"),
        (["query", str(tmp_path / "no"), "SELECT 1"], "does not exist; check the name"),
        (["rebuild", str(tmp_path / "no")], "does not exist"),
        (["find", str(tmp_path / "no"), "a"], "does not exist"),
    ):
        assert main(["catalog", *arguments]) == 1
        (line,) = capsys.readouterr().err.splitlines()
        assert message in line
        assert "rebuild" not in line
    (tmp_path / "bare").mkdir()
    assert main(["catalog", "query", str(tmp_path / "bare"), "SELECT 1"]) == 1
    assert "has no catalogue yet; python -m flows catalog rebuild" in capsys.readouterr().err


def test_an_output_that_a_run_holds_is_not_rebuilt(output, capsys):
    with output_lock(output.lock):
        assert main(["catalog", "rebuild", str(output.folder)]) == 1
    assert "another run" in capsys.readouterr().err


def test_the_questions_are_printed_with_their_sql(capsys):
    assert main(["catalog", "questions"]) == 0
    printed = capsys.readouterr().out
    assert "high-density" in printed
    assert "SELECT" in printed
