"""LINDI's files behind a server and in a bucket, and the HDF5 files that they name there."""

import json
from pathlib import Path

import numpy as np
import pytest

from shadowzarr import lindi_to_rfs, open_rfs, rfs_to_lindi, verify_rfs, write_rfs
from shadowzarr.cli import main
from shadowzarr.errors import SourceChangedError, SourceNotFoundError
from shadowzarr.testing import RangeServer

GOLDEN = Path(__file__).resolve().parents[1] / "golden" / "lindi"
EXTRA = {"sample.lindi.json": [], "sample.lindi.tar": [("/held", "extra")]}
"""What each has that the HDF5 file has not: the archive holds an array of its own."""

FORMS = list(EXTRA)


def differences(rfs):
    report = verify_rfs(rfs, GOLDEN / "sample.h5", mode="full")
    return [(each.path, each.kind) for each in report.differences]


@pytest.fixture
def served(tmp_path):
    """A server of a copy of LINDI's files and the HDF5 file that they name."""
    for name in ("sample.h5", *FORMS):
        (tmp_path / name).write_bytes((GOLDEN / name).read_bytes())
    with RangeServer(tmp_path) as server:
        yield server, tmp_path


@pytest.mark.parametrize("form", FORMS)
def test_a_url_names_files_beside_it(served, form):
    server, _ = served
    rfs = lindi_to_rfs(server.url(form))
    assert rfs.get("skipped", []) == []
    assert set(rfs["sources"]) <= {server.url("sample.h5"), server.url(form)}
    assert all(entry["etag"] for entry in rfs["sources"].values())
    # The HDF5 file is read in ranges alone, for its size and for the chunk indexes of external arrays.
    assert {request.status for request in server.log if request.path.endswith(".h5")} <= {206}
    assert differences(rfs) == EXTRA[form]
    assert all((open_rfs(rfs)[name[1:]][...] == np.arange(5000.0)).all() for name, _ in EXTRA[form])


def test_a_file_that_changed_since_is_refused(served):
    server, folder = served
    rfs = lindi_to_rfs(server.url("sample.lindi.json"))
    data = (folder / "sample.h5").read_bytes()
    (folder / "sample.h5").write_bytes(data[:-1] + bytes([data[-1] ^ 1]))
    with pytest.raises(SourceChangedError):
        open_rfs(rfs)["numbers/gzip"][...]


def test_what_is_not_there_is_named(served):
    server, folder = served
    with pytest.raises(SourceNotFoundError, match=r"gone\.lindi\.json"):
        lindi_to_rfs(server.url("gone.lindi.json"))
    (folder / "sample.h5").unlink()
    rfs = lindi_to_rfs(server.url("sample.lindi.json"))
    assert any("numbers/many" in entry["path"] for entry in rfs["skipped"])
    assert any("could not be asked for its size" in entry["what"] for entry in rfs["converted"])


def test_in_a_bucket(object_store, tmp_path):
    for name in ("sample.h5", *FORMS):
        object_store.put_object(Bucket="sources", Key=f"a b/{name}", Body=(GOLDEN / name).read_bytes())
    for form in FORMS:
        rfs = lindi_to_rfs(f"s3://sources/a b/{form}")
        assert differences(rfs) == EXTRA[form]
        assert {name.rpartition("/")[0] for name in rfs["sources"]} == {"s3://sources/a b"}
    write_rfs(rfs, tmp_path / "refs")
    left_out = {each["reason"] for each in rfs_to_lindi(tmp_path / "refs")["generationMetadata"]["skipped"]}
    assert any("s3://" in reason for reason in left_out)


def test_the_command_takes_a_url(served, tmp_path, capsys):
    server, _ = served
    out = tmp_path / "out"
    assert main(["convert", "--from", "lindi", "--to", "rfs", server.url(FORMS[0]), str(out)]) == 0
    assert verify_rfs(out, GOLDEN / "sample.h5", mode="full").equal
    again = tmp_path / "k.json"
    assert main(["convert", "--from", "rfs", "--to", "kerchunk", str(out), str(again)]) == 0
    assert server.url("sample.h5") in {
        value[0] for value in json.loads(again.read_text())["refs"].values() if isinstance(value, list)
    }
    assert (
        main(["convert", "--from", "lindi", "--to", "rfs", server.url("gone.json"), str(tmp_path / "x")]) == 1
    )
    assert "gone.json" in capsys.readouterr().err
    assert not (tmp_path / "x").exists()
