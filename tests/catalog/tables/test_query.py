"""Questions: the ready ones give the right answers, and none does anything but read the catalogue."""

import pytest

from shadowzarr.catalog.tables.query import ask
from shadowzarr.catalog.tables.questions import QUESTIONS, question
from shadowzarr.catalog.tables.update import update_catalog
from shadowzarr.errors import UsageError


@pytest.fixture
def output(layout, put, failed, partial, tmp_path, write_nwb_file):
    """A plain recording, one of 384 channels at gzip 9, the first one's blob again, and a failure."""
    put(1)
    put(2, file=write_nwb_file(tmp_path / "probe.nwb", channels=384, level=9, species="Rattus norvegicus"))
    put(3, etag=f"{1:032x}-1", **partial)
    put(4, **failed)
    update_catalog(layout)
    return layout.folder


def paths(output, name):
    answer = ask(output, question(name).sql)
    place = answer.columns.index("asset_path")
    return [row[place] for row in answer.rows]


def test_there_are_a_dozen_questions_and_all_can_be_asked(output):
    assert len(QUESTIONS) >= 12
    assert len({each.name for each in QUESTIONS}) == len(QUESTIONS)
    for each in QUESTIONS:
        assert each.text.endswith("?")
        list(ask(output, each.sql).rows)


def test_what_users_ask_for_is_answered(output):
    assert paths(output, "pose") == ["sub-1/1.nwb", "sub-2/2.nwb", "sub-3/3.nwb"]
    assert paths(output, "high-density") == ["sub-2/2.nwb"]
    assert paths(output, "gzip-9") == ["sub-2/2.nwb"]
    assert paths(output, "recordings") == ["sub-1/1.nwb", "sub-2/2.nwb", "sub-3/3.nwb"]
    assert paths(output, "failures") == ["sub-4/4.nwb"]
    species = list(ask(output, question("species").sql).rows)
    assert species == [("Mus musculus", 1, 2, 1001 + 1003), ("Rattus norvegicus", 1, 1, 1002)]
    (same,) = ask(output, question("same-blob").sql).rows
    assert same[1] == 2
    (left_out,) = ask(output, question("left-out").sql).rows
    assert left_out[:3] == ("link", "it leads nowhere", 1)


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT * FROM read_text('/etc/hostname')",
        "SELECT * FROM '/etc/hostname'",
        "SELECT * FROM glob('/etc/*')",
        "COPY (SELECT 1) TO '{output}/written.csv'",
        "COPY (SELECT 1 AS a) TO '{assets}'",
        "ATTACH '{output}/other.db'",
        "INSTALL httpfs",
        "LOAD httpfs",
        "SET enable_external_access = true",
        "EXPORT DATABASE '{output}/written'",
        "CREATE TABLE mine AS SELECT 1",
        "DROP VIEW assets",
        "SELECT 1; SELECT 2",
        "",
        "SELECT * FROM hidden",
        "SELECT nothing_of_that_name FROM assets",
        "not a question",
    ],
)
def test_nothing_but_reading_the_catalogue_is_done(output, sql):
    hidden = [1]  # noqa: F841 - DuckDB would find it as a table
    before = {path: path.read_bytes() for path in output.rglob("*") if path.is_file()}
    (assets,) = output.glob("catalog/*/assets.parquet")
    with pytest.raises(UsageError, match="cannot be answered") as caught:
        list(ask(output, sql.format(output=output, assets=assets)).rows)
    assert "\n" not in str(caught.value)
    assert {path: path.read_bytes() for path in output.rglob("*") if path.is_file()} == before


def test_a_name_that_is_not_there_is_answered_with_those_that_are_like_it(output):
    with pytest.raises(UsageError, match=r'"subject" not found.*"subject_id"'):
        list(ask(output, "SELECT subject FROM assets").rows)


def test_tables_can_be_described(output):
    assert [row[0] for row in ask(output, "SHOW TABLES").rows] == ["assets", "left_out", "objects"]
    assert ask(output, "DESCRIBE objects").columns[0] == "column_name"


def test_a_question_that_is_not_there_names_those_that_are():
    with pytest.raises(UsageError, match="high-density"):
        question("nothing")
