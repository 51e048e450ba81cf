"""Real NWB files: generated, written in both forms and compared in full."""

import pytest

from shadowzarr import generate_rfs, verify_rfs, write_rfs


def test_every_nwb_file_is_equal_in_both_forms(shared, tmp_path, capsys):
    files = sorted((shared / "corpus" / "nwb").rglob("*.nwb"))
    assert len(files) >= 10
    arrays = 0
    for number, file in enumerate(files):
        rfs = generate_rfs(file)
        for form in (f"{number}.json", f"{number}"):
            write_rfs(rfs, tmp_path / form)
            report = verify_rfs(tmp_path / form, mode="full")
            assert report.differences == [], file
            assert report.left_out == [], file
        arrays += report.counts["arrays"]
    with capsys.disabled():
        print(f"\n{len(files)} NWB files, {arrays} arrays, each equal in both forms")


@pytest.mark.filterwarnings("ignore:The file path provided")  # how the case is built
def test_every_case_is_equal_or_left_out_by_name(handed_cases, tmp_path):
    different = {}
    for name, build in handed_cases.CASES.items():
        path = tmp_path / f"{name}.h5"
        options = build(path).get("options", {})
        report = verify_rfs(generate_rfs(path, **options), mode="full")
        if not report.equal:
            different[name] = report.differences
    assert different == {}


@pytest.mark.parametrize("folder", ["mat73"])
def test_matlab_files(shared, folder):
    files = sorted((shared / "corpus" / folder).rglob("*.mat"))
    assert files
    for file in files:
        report = verify_rfs(generate_rfs(file), mode="full")
        assert report.differences == [], file


@pytest.mark.parametrize("name", ["bad_offset.h5", "bad_compound.h5", "corrupt_stab_msg.h5"])
def test_a_damaged_group_is_left_out_by_name(shared, name):
    report = verify_rfs(generate_rfs(shared / "corpus" / "bad" / name), mode="full")
    assert report.differences == []
    assert any("h5py cannot read" in each.reason for each in report.left_out)
