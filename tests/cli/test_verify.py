"""``shadowzarr verify``: exit codes, and what it says of both sides."""

import json

import h5py
import pytest
from command_line import call, error_of, run


@pytest.mark.parametrize("options", [[], ["--full"], ["--seed", "3"], ["--strict"]])
def test_verify_equal_references(made, options):
    result = call("verify", made / "good", *options)
    assert (result.returncode, result.stderr) == (0, "")
    assert result.stdout.startswith("equal")


def test_verify_says_what_it_counted(made):
    objects = "compared 2 groups, 2 arrays, 1 attribute, 1 link (the root is a group), and"
    assert (
        f"{objects} 80,006 bytes of values in 11 chunks\n" in call("verify", made / "good", "--full").stdout
    )
    sampled = call("verify", made / "good").stdout
    assert objects in sampled
    assert "of values in" in sampled
    assert "chunks, a choice of all\n" in sampled


def test_verify_against_another_file(made, tmp_path):
    other = tmp_path / "other.h5"
    other.write_bytes((made / "good.h5").read_bytes())
    with h5py.File(other, "r+") as file:
        file["wave/data"][3999, 9] = -1
    result = call("verify", made / "good", "--against", other)
    assert result.returncode == 1
    assert "/wave/data: values" in result.stdout
    assert result.stderr == ""


def test_verify_as_json(made):
    result = call("verify", made / "good", "--full", "--json")
    report = json.loads(result.stdout)
    assert report["equal"] is True
    assert report["mode"] == "full"
    assert report["counts"]["arrays"] == 2


def test_strict_counts_what_is_left_out(made, tmp_path):
    call("generate", made / "partly.h5", tmp_path / "out.json")
    result = call("verify", tmp_path / "out.json")
    assert result.returncode == 0
    assert "left out: /times" in result.stdout
    strict = call("verify", tmp_path / "out.json", "--strict")
    assert strict.returncode == 1
    assert strict.stderr == "shadowzarr: exit code 1: 1 object left out (--strict)\n"


def test_verify_of_a_replaced_original_is_one_line(made, tmp_path):
    (tmp_path / "x.h5").write_bytes((made / "good.h5").read_bytes())
    call("generate", tmp_path / "x.h5", tmp_path / "x")
    with (tmp_path / "x.h5").open("ab") as file:
        file.write(b"more")
    result = call("verify", tmp_path / "x")
    assert result.returncode == 1
    (line,) = result.stdout.splitlines()
    assert "x.h5 is not the file that was indexed" in line


@pytest.mark.parametrize("verb", ["info", "verify"])
def test_an_hdf5_file_in_place_of_references(made, verb):
    result = call(verb, made / "good.h5")
    assert result.returncode == 1
    assert "is an HDF5 file" in error_of(result)
    assert f"shadowzarr generate {made / 'good.h5'} OUT" in error_of(result)


@pytest.mark.parametrize("refs", ["missing", "text.h5", "."])
def test_verify_without_references(made, refs):
    result = run("verify", refs, cwd=made)
    assert result.returncode == 1
    error_of(result)


def test_verify_when_the_original_is_gone(made, tmp_path):
    result = call("verify", made / "good", "--against", tmp_path / "gone.h5")
    assert result.returncode == 1
    assert "gone.h5" in error_of(result)
