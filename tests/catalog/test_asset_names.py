import hashlib

import pytest

from shadowzarr.catalog.asset_names import (
    LONGEST_STEM,
    folded,
    identity_problem,
    ignores_case,
    path_problem,
    printable_text,
    safe_stem,
)
from shadowzarr.catalog.layout import RecordKey, record_suffix

ASSET_ID = "0b34d3dd-037a-4dcb-9d8f-1073895048e1"
ETAG = "3f4734664390d668bbb6b2e19f603582"
LONGEST_SUFFIX = record_suffix(RecordKey(ASSET_ID, f"{ETAG}-10000", "0123456789ab", 1), "indexed")


@pytest.mark.parametrize(
    "path",
    [
        "../a.nwb",
        "/a.nwb",
        "a//b.nwb",
        "a/./b",
        "a/..",
        "a\\b.nwb",
        "a\0b",
        "a\nb.nwb",
        "a\x1b[2Jb.nwb",
        "a\u2028b.nwb",
        "a.shadowzarr/b.nwb",
        "a.ShadowZarr/b.nwb",
        "a.shadowzarr.json",
        "a.record.json",
        "x" * 256 + "/b",
        "x/" * 1000 + "b",
        printable_text("a\ud800.nwb"),
    ],
)
def test_paths_that_files_cannot_have_are_refused(path):
    assert path_problem(path)


@pytest.mark.parametrize(
    "path", ["sub-1/ses 2/a#b%c.nwb", "a.nwb/b.nwb", "skipped.json", "CON", "a. ", "ü/é.nwb", "-rf", "~"]
)
def test_other_paths_have_no_problem(path):
    assert path_problem(path) is None


def test_half_of_a_surrogate_pair_is_written_as_text():
    assert printable_text("a\ud800é.nwb") == "a\\ud800é.nwb"


@pytest.mark.parametrize("name", ["é" * 200 + ".nwb", "a" * 255])
def test_long_names_are_cut_to_names_that_stay_apart(name):
    stem = safe_stem(name)
    assert len(stem.encode()) <= LONGEST_STEM
    assert len((stem + LONGEST_SUFFIX).encode()) <= 255
    assert safe_stem(name) == stem != safe_stem(name + "x")


def test_no_name_is_what_another_one_is_cut_to():
    long = "a" * 255
    cut = safe_stem(long)
    assert cut == "a" * 113 + "~" + hashlib.sha256(long.encode()).hexdigest()[:16]
    assert safe_stem(cut) != cut


@pytest.mark.parametrize("name", ["a.nwb", "a~b.nwb", "~0123456789abcdef.nwb"])
def test_short_names_stay(name):
    assert safe_stem(name) == name


@pytest.mark.parametrize(
    ("asset_id", "etag", "said"),
    [
        (ASSET_ID, f"{ETAG}-1", None),
        ("../x", f"{ETAG}-1", "no UUID"),
        (ASSET_ID.replace("-", ""), f"{ETAG}-1", "no UUID"),
        (ASSET_ID, ETAG, "expected one such as"),
        (ASSET_ID, f"{ETAG}-1/..", "expected one such as"),
    ],
)
def test_ids_and_etags_that_records_cannot_be_named_by_are_refused(asset_id, etag, said):
    problem = identity_problem(asset_id, etag)
    assert (problem is None) if said is None else (problem is not None and said in problem)


def test_paths_that_differ_in_case_or_composition_fold_to_one(tmp_path):
    assert folded(tmp_path / "A\u0301.nwb") == folded(tmp_path / "á.NWB")
    assert folded(tmp_path / "a.nwb") != folded(tmp_path / "b.nwb")


def test_whether_a_file_system_ignores_case_is_seen_from_any_folder_that_is_there(tmp_path):
    (tmp_path / "Output").mkdir()
    missing = tmp_path / "Output" / "not" / "there"
    assert not ignores_case(missing)
    (tmp_path / "oUTPUT").symlink_to(tmp_path / "Output")  # as such a file system looks
    assert ignores_case(missing)
