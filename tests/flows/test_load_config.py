"""What is said about wrong configurations: file, line, what was found, what was expected, what was meant."""

# ruff: noqa: E501 (a table of messages reads better unbroken)

import re
from pathlib import Path

import pytest

from flows.load_config import load_config
from shadowzarr.errors import ConfigError

ROOT = Path(__file__).resolve().parents[2]

GOOD = """\
flow: index_dandisets
archive: dandi
dandisets:
  - id: "000006"
output: out
"""


@pytest.fixture
def load(tmp_path):
    def load(text: str, *changes: str):
        path = tmp_path / "c.yaml"
        path.write_text(text)
        return load_config(path, changes=changes)

    return load


@pytest.fixture
def message(load, tmp_path):
    """The messages of a wrong text, without the folder."""

    def message(text: str, *changes: str) -> str:
        with pytest.raises(ConfigError) as caught:
            load(text, *changes)
        return str(caught.value).replace(f"{tmp_path}/", "")

    return message


@pytest.mark.parametrize(
    "path",
    sorted(set((ROOT / "configs").rglob("*.yaml")) - {ROOT / "configs" / "prefect.yaml"}),
    ids=lambda path: path.name,
)
def test_every_configuration_loads(path):
    config = load_config(path)
    assert path.parent.name in (config.flow, "configs")
    assert config.flow != "index_dandisets" or config.request.wanted
    assert config.source == str(path)


def test_the_least_there_can_be(load):
    config = load(GOOD)
    assert config.archive.api_url == "https://api.dandiarchive.org/api"
    assert config.archive.api_key_env == "DANDI_API_KEY"
    assert config.dandisets[0].include == ["**/*.nwb"]
    assert (config.verification.mode, config.references.chunk_index_threshold) == ("sample", 1000)
    assert config.warnings == []


@pytest.mark.parametrize(
    ("line", "text", "expected"),
    [
        ("archive: dandi", "archive: dandy", "c.yaml:2: archive: found 'dandy', expected dandi or dandi-sandbox,"),
        ("archive: dandi", "archive: dandy", "did you mean dandi?"),
        ("archive: dandi", "archive: 3", "c.yaml:2: archive: found 3 (a number), expected a section with keys"),
        ("archive: dandi", "archive:\n  api_url: localhost", "c.yaml:3: archive.api_url: found localhost, expected text: Root"),
        ("archive: dandi", "archive:\n  api_key_env: X", "c.yaml:2: archive.api_url: missing"),
        ("archive: dandi", "archive: https://user:pw@x/api", "archive.api_url"),
        ("archive: dandi", "archvie: dandi", "c.yaml:2: archvie: unknown key; did you mean archive?"),
        ('  - id: "000006"', "  - id: 000006", 'c.yaml:4: dandisets[0].id: found 000006 (a number), expected six digits in quotes, such as "000006"'),
        ('  - id: "000006"', '  - id: "6"', 'c.yaml:4: dandisets[0].id: found "6", expected six digits in quotes, such as "000006"'),
        ('  - id: "000006"', "  - 6", "c.yaml:4: dandisets[0]: found 6 (a number), expected six digits in quotes"),
        ('  - id: "000006"', '  - version: draft', "c.yaml:4: dandisets[0].id: missing; expected text: Identifier of"),
        ('  - id: "000006"', '  - id: "000006"\n    version: newest', "c.yaml:5: dandisets[0].version: found newest"),
        ('  - id: "000006"', '  - id: "000006"\n    vresion: draft', "c.yaml:5: dandisets[0].vresion: unknown key; did you mean version?"),
        ('  - id: "000006"', '  - id: "000006"\n    limit: 0', "c.yaml:5: dandisets[0].limit: found 0 (a number), expected greater than or equal to 1"),
        ('  - id: "000006"', '  - id: "000006"\n    limit: three', "dandisets[0].limit: found three, expected a whole number"),
        ('  - id: "000006"', '  - id: "000006"\n    include: 5', "dandisets[0].include: found 5 (a number), expected a list"),
        ('  - id: "000006"', '  - id: "000006"\n    include: [""]', "dandisets[0].include[0]: found"),
        ('dandisets:\n  - id: "000006"', "dandisets: []", "c.yaml:1: expected at least one entry in dandisets, folders or manifests"),
        ('dandisets:\n  - id: "000006"\n', "", "c.yaml:1: expected at least one entry in dandisets, folders or manifests"),
        ("output: out", "output: out\nfolders: [a b]", "c.yaml:6: folders[0]: found a section, expected a name: beside path: a b, since 'a b' cannot be that of results (up to 80 letters"),
        ("output: out", "output: out\nfolders: [{path: a, name: '000001'}]", "expected another name than '000001': six digits are a dandiset's"),
        ("output: out", "output: out\nfolders: [{path: a, name: a/b}]", "c.yaml:6: folders[0].name: found a/b, expected text or null: What its results are called (up to 80 letters, digits"),
        ("output: out", "output: out\nfolders: [x/a, y/A]", "c.yaml:1: expected one folder or manifest of the name 'a'; give"),
        ("output: out", "output: out\nfolders: [{paht: a}]", "folders[0].paht: unknown key; did you mean path?"),
        ("output: out", "output: out\nfolders: [{path: a, url_prefix: /b}]", "folders[0].url_prefix: found /b, expected text"),
        ("output: out", "output: out\nfolders: [{path: a, identity: tmie}]", "expected 'time' or 'digest'; did you mean time?"),
        ("output: out", "output: out\nmanifests: [{name: a}]", "c.yaml:6: manifests[0].file: missing; expected text: The list"),
        ("output: out", "", "c.yaml:1: output: missing; expected text or a section: Where results are written"),
        ("output: out", "output: [out]", "c.yaml:5: output: found a list, expected a section with keys"),
        ("output: out", "output: {folder: a, private_output: a/b}", "c.yaml:5: output: found a section, expected private_output to be outside of folder"),
        ("output: out", "output: {folder: a, private_output: a}", "expected private_output to be outside of folder"),
        ("output: out", "output:\n  foldr: out", "c.yaml:6: output.foldr: unknown key; did you mean folder?"),
        ("output: out", "output: out\non_error: Stop", "c.yaml:6: on_error: found Stop, expected 'continue' or 'stop'; did you mean stop?"),
        ("output: out", "output: out\nrun: {concurrency: 0}", "c.yaml:6: run.concurrency: found 0 (a number), expected greater than or equal to 1"),
        ("output: out", "output: out\nrun: {timeout: -1}", "run.timeout: found -1 (a number), expected greater than 0"),
        ("output: out", 'output: out\nrun: {timeout: "1"}', 'c.yaml:6: run.timeout: found "1" (text), expected a number; write it without quotes'),
        ("output: out", 'output: out\nrun: {retries: "2", timeout: 5}', 'run.retries: found "2" (text), expected a whole number; write'),
        ("output: out", "output: out\nrun: {timeout: true}", "run.timeout: found true (true or false), expected a number"),
        ("output: out", "output: out\nrun: {concurrency: 0, memory_limit: 4GB}", "run.concurrency: found 0 (a number), expected greater"),
        ("output: out", "output: out\nrun: {concurrency: 1, memory_limit: 4GB } # much", "c.yaml:6: run.memory_limit: found 4GB, expected a whole number"),
        ("output: out", "output: out\non_error: two, words # no comment", "found two, words, expected 'continue'"),
        ("output: out", "output: out\nrun: {retries: 2.5}", "run.retries: found 2.5 (a number), expected a whole number"),
        ("output: out", "output: out\nrun: {retries: true}", "run.retries: found true (true or false), expected a whole number"),
        ("output: out", "output: out\nrun:\n  memory_limit: 100", "c.yaml:7: run.memory_limit: found 100"),
        ("output: out", "output: out\nverification: full", "c.yaml:6: verification: found full, expected a section with keys: mode, seed"),
        ("output: out", "output: out\nverification: {mode: fulll}", "did you mean full?"),
        ("output: out", "output: out\nreferences: {form: jsn}", "expected 'directory' or 'json'; did you mean json?"),
        ("output: out", "output: out\nreferences: {concurrency: 2}", "unknown key here; it belongs at run.concurrency"),
        ("output: out", "output: out\nreferences: {zzz: 2}", "unknown key; expected one of chunk_index_threshold, contiguous_chunk_bytes"),
        ("output: out", "output: out\nicechunk: {keep_days: -1}", "icechunk.keep_days: found"),
        ("output: out", "output: out\nmaterialize: {folder: x, level: 3}", "materialize.level: unknown key"),
        ("flow: index_dandisets", "flow: index_dandiset", "c.yaml:1: flow: found 'index_dandiset', expected index_dandisets or backfill or verify_outputs or refresh_icechunk or materialize_assets or convert_recordings or watch_deployments; did you mean index_dandisets?"),
        ("flow: index_dandisets\n", "", "c.yaml:1: flow: missing; expected the name of a flow"),
        ("flow: index_dandisets", "flwo: index_dandisets", "did you mean it by flwo?"),
        ("output: out", "output: out\noutput: again", "c.yaml:6: the key output is there twice; keep one"),
        ("output: out", "output: out\n  run: 3", "c.yaml:6: not YAML: mapping values are not allowed here; check the indentation"),
        ("output: out", "output: 'out", "not YAML"),
        ("output: out", "output:\n\tfolder: out", "use spaces in place of tabs"),
        ("output: out", "output:\n    folder: out\n  private_output: p", "check the indentation"),
        ('  - id: "000006"', "  - 000001", 'dandisets[0]: found 000001 (a number), expected six digits in quotes, such as "000006"'),
        ('  - id: "000006"', "  - '1'", "dandisets[0].id: found '1', expected six digits in quotes"),
    ],
)  # fmt: skip
def test_messages(message, line, text, expected):
    assert line in GOOD
    assert expected in message(GOOD.replace(line, text))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", "c.yaml:1: found nothing, expected keys and values that begin with flow:"),
        ("- a\n- b", "c.yaml:1: found a list"),
        ("just text", "c.yaml:1: found"),
    ],
)
def test_files_that_are_no_configuration(message, text, expected):
    assert expected in message(text)


def test_all_problems_are_told_at_once_in_the_order_of_lines(message):
    lines = message(GOOD.replace("dandi\n", "dandy\n") + "on_error: x\nrun: {retries: x}\n").splitlines()
    assert [int(re.match(r"c\.yaml:(\d+)", line)[1]) for line in lines] == [2, 6, 7]


def test_a_file_that_is_not_there_names_its_neighbour(load, tmp_path):
    load(GOOD)
    with pytest.raises(ConfigError, match=r"cc\.yaml: there is no such file; did you mean .*/c\.yaml\?"):
        load_config(tmp_path / "cc.yaml")


def test_other_places_that_cannot_be_read(tmp_path):
    with pytest.raises(ConfigError, match="found a folder, expected a YAML file"):
        load_config(tmp_path)
    (tmp_path / "latin.yaml").write_bytes("flow: é".encode("latin-1"))
    with pytest.raises(ConfigError, match="not UTF-8"):
        load_config(tmp_path / "latin.yaml")


def test_changes_of_the_command_line_win(load):
    changes = ["output.folder=else", "run.concurrency=7", "dandisets.0.limit=3", "archive=dandi-sandbox"]
    config = load(GOOD.replace("output: out", "output:\n  folder: out"), *changes)
    assert (config.output.folder, config.run.concurrency, config.dandisets[0].limit) == ("else", 7, 3)
    assert "sandbox" in config.archive.api_url


def test_changes_of_the_command_line_reach_into_short_forms(load):
    config = load(
        GOOD.replace('- id: "000006"', '- "000006"'), "output.private_output=p", "dandisets.0.limit=3"
    )
    assert (config.output.folder, config.output.private_output) == ("out", "p")
    assert (config.dandisets[0].id, config.dandisets[0].limit) == ("000006", 3)
    assert load(GOOD, "output.folder=else").output.folder == "else"
    named = load(GOOD, "archive.api_key_env=OTHER").archive
    assert (named.api_url, named.api_key_env) == ("https://api.dandiarchive.org/api", "OTHER")


def test_the_key_of_a_named_archive_is_not_sent_to_another_address(load):
    archive = load(GOOD, "archive.api_url=http://elsewhere/api").archive
    assert (archive.api_url, archive.api_key_env) == ("http://elsewhere/api", None)


def test_places_are_named_without_dots(load, tmp_path):
    request = load(GOOD, f"output={tmp_path}/a/../b", f"output.private_output={tmp_path}/a/../c").request
    assert (request.output, request.private_output) == (tmp_path / "b", tmp_path / "c")


def test_dots_after_a_link_are_taken_as_the_system_takes_them(load, tmp_path):
    (tmp_path / "real" / "deep").mkdir(parents=True)
    (tmp_path / "link").symlink_to(tmp_path / "real" / "deep")
    assert load(GOOD, f"output={tmp_path}/link/../b").request.output == tmp_path / "real" / "b"


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        ("run.concurrency=lots", "command line, --set run.concurrency: found 'lots', expected a whole"),
        ("run.concurency=1", "command line, --set run.concurency: unknown key; did you mean concurrency?"),
        ("redo.since=yesterday", "command line, --since (redo.since): found 'yesterday', expected a date or a time, such as 2026-03-02"),
        ("run", "command line, --set run: expected KEY=VALUE"),
        ("=3", "expected KEY=VALUE"),
        ("dandisets.5.limit=3", "5 is no section that holds more"),
        ("dandisets.5=x", "the list has 1 entries, counted from 0"),
        ("dandisets.0.id.x=3", "id is no section that holds more"),
        ("flow.x=3", "flow is no section that holds more"),
        ("output=[", "found '[', expected a YAML value"),
    ],
)  # fmt: skip
def test_wrong_changes(message, change, expected):
    assert expected in message(GOOD, change)


def test_a_change_below_a_wrong_short_form_names_both(message):
    found = message(GOOD.replace("archive: dandi", "archive: dandy"), "archive.api_key_env=X")
    assert found.startswith(
        "command line, --set archive.api_key_env=X: the file's archive is 'dandy', expected dandi"
    )
    number = message(GOOD.replace('- id: "000006"', "- 000006"), "dandisets.0.limit=3")
    assert "dandisets[0].id: found 6 (a number), expected six digits in quotes" in number


def test_a_value_that_looks_like_a_secret_stays_out_of_messages(message):
    """A whole section is never shown, only scalars at wrong places."""
    assert "hunter2" not in message(
        GOOD.replace("archive: dandi", "archive:\n  api_key: hunter2\n  api_url: http://x/api")
    )
