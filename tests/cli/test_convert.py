"""``shadowzarr convert``: forms, messages and how it ends."""

import json
import sys
from pathlib import Path
from typing import get_args

import pytest
from command_line import Terminal

from shadowzarr import generate_rfs, kerchunk_to_rfs, lindi_to_rfs, verify_rfs, write_rfs
from shadowzarr.cli import main

GOLDEN = Path(__file__).resolve().parents[1] / "golden" / "lindi"
LINDI = str(GOLDEN / "sample.lindi.json")


def convert(*arguments):
    return main(["convert", *map(str, arguments)])


def test_lindi_to_ours_and_back(tmp_path, capsys):
    assert convert("--from", "lindi", "--to", "rfs", LINDI, tmp_path / "refs") == 0
    assert "34 arrays" in capsys.readouterr().out
    assert verify_rfs(tmp_path / "refs", GOLDEN / "sample.h5", mode="full").equal
    assert convert("--from", "rfs", "--to", "lindi", tmp_path / "refs", tmp_path / "x.lindi.json") == 3
    out = capsys.readouterr().out
    assert "left out: attribute /attributes@texts" in out
    report = verify_rfs(lindi_to_rfs(tmp_path / "x.lindi.json"), GOLDEN / "sample.h5", mode="full")
    assert [d.path for d in report.differences] == ["/numbers/checked", "/attributes@texts"]


def test_to_kerchunk_and_back(tmp_path):
    assert convert("--from", "lindi", "--to", "kerchunk", LINDI, tmp_path / "k.json") == 0
    assert json.loads((tmp_path / "k.json").read_text())["version"] == 1
    assert verify_rfs(kerchunk_to_rfs(tmp_path / "k.json"), GOLDEN / "sample.h5", mode="full").equal
    assert convert("--from", "kerchunk", "--to", "rfs", tmp_path / "k.json", tmp_path / "refs") == 0


def test_kept_links_are_named(tmp_path, capsys):
    assert convert("--from", "lindi", "--to", "rfs", "--keep-links", LINDI, tmp_path / "refs") == 3
    assert "left out: dataset /numbers/many: an external array link" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--from", "lindi", "--to", "lindi", LINDI, "x.json"), "both lindi"),
        (("--from", "lindi", "--to", "kerchunk", LINDI, "x"), "one file that ends in .json"),
        (("--from", "kerchunk", "--to", "rfs", "--keep-links", "x.json", "y"), "only LINDI has"),
        (("--from", "zip", "--to", "rfs", "x.json", "y"), "zip"),
    ],
)
def test_wrong_calls(arguments, message, capsys):
    assert convert(*arguments) == 2
    assert message in capsys.readouterr().err


def test_selections_have_no_form_in_kerchunk(tmp_path, capsys):
    source = GOLDEN.parent / "format-1" / "selected.shadowzarr.json"
    assert convert("--from", "rfs", "--to", "kerchunk", source, tmp_path / "k.json") == 1
    assert "selections" in capsys.readouterr().err


@pytest.mark.parametrize("form", ["lindi", "kerchunk"])
def test_a_changed_source_is_refused_where_no_reader_would_notice(tmp_path, capsys, form):
    (tmp_path / "sample.h5").write_bytes((GOLDEN / "sample.h5").read_bytes())
    write_rfs(generate_rfs(tmp_path / "sample.h5"), tmp_path / "refs")
    (tmp_path / "sample.h5").write_bytes((GOLDEN / "sample.h5").read_bytes() + b"more")
    out = tmp_path / "x.json"
    assert convert("--from", "rfs", "--to", form, tmp_path / "refs", out) == 1
    assert "sample.h5 is not the file that was indexed" in capsys.readouterr().err
    assert not out.exists()
    (tmp_path / "sample.h5").unlink()  # it may be elsewhere for who reads them
    assert convert("--from", "rfs", "--to", form, tmp_path / "refs", out) in (0, 3)


def test_nothing_else_is_replaced(tmp_path, capsys):
    out = tmp_path / "x.json"
    out.write_text("[1]")
    assert convert("--from", "lindi", "--to", "kerchunk", LINDI, out, "--force") == 1
    assert "holds no references" in capsys.readouterr().err
    out.unlink()
    assert convert("--from", "lindi", "--to", "kerchunk", LINDI, out) == 0
    assert convert("--from", "lindi", "--to", "kerchunk", LINDI, out) == 1
    assert "give --force" in capsys.readouterr().err
    assert convert("--from", "lindi", "--to", "kerchunk", LINDI, out, "--force") == 0
    assert convert("--from", "kerchunk", "--to", "rfs", out, out, "--force") == 1
    assert "the source itself" in capsys.readouterr().err


@pytest.mark.parametrize(("form", "source"), [("lindi", LINDI), ("kerchunk", "k.json")])
def test_it_says_how_far_it_is_on_a_terminal(tmp_path, monkeypatch, form, source):
    monkeypatch.chdir(tmp_path)
    assert convert("--from", "lindi", "--to", "kerchunk", LINDI, "k.json") == 0
    shown = Terminal()
    monkeypatch.setattr(sys, "stderr", shown)
    assert convert("--from", form, "--to", "rfs", source, "refs") == 0
    assert f"reading {source[:70]}" in shown.text
    assert " arrays read: /" in shown.text


def test_the_parsers_are_those_of_the_library():
    pytest.importorskip("virtualizarr")
    from shadowzarr.cli.convert import ParserName
    from shadowzarr.virtualizarr.parsing import PARSERS

    assert list(get_args(ParserName)) == list(PARSERS)
