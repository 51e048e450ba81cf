"""Documents of LINDI that are damaged or made to do harm: what is odd is left out, or one error says so."""

import base64
import json
import zlib

import h5py
import numpy as np
import pytest

from shadowzarr import lindi_to_rfs, open_rfs
from shadowzarr.cli import main
from shadowzarr.errors import InvalidReferencesError, UsageError
from shadowzarr.testing import RangeServer

GROUP = {"zarr_format": 2}


def small(**refs):
    return {"version": 1, "refs": {".zgroup": GROUP, **refs}}


def array(shape=(4,), dtype="<i2", chunks=None, **more):
    return {"shape": list(shape), "chunks": list(chunks or shape), "dtype": dtype, "fill_value": 0, **more}


def link(url, name="x"):
    return {"_EXTERNAL_ARRAY_LINK": {"link_type": "hdf5_dataset", "url": url, "name": name}}


def reasons(document, **options):
    rfs = lindi_to_rfs(document, describe_sources=False, **options)
    return {entry["path"]: entry["reason"] for entry in rfs.get("skipped", [])}


OBJECTS = array(dtype="|O", filters=[{"id": "json2"}])
BOMB = "base64:" + base64.b64encode(zlib.compress(bytes(2**27), 9)).decode()


@pytest.mark.parametrize(
    ("zarray", "attributes", "chunk", "reason"),
    [
        (array([10**9]), {}, "ab", "values of 2,000,000,000 bytes that have to be held"),
        (array([2**62], chunks=[2**61]), {}, "ab", "have to be held in the document"),
        (array(dtype="|S1000000000"), {}, "ab", "have to be held in the document"),
        (array([1], "<U500000000"), {"_SCALAR": True}, "base64:", "have to be held"),
        (array([9], "|u1", compressor={"id": "zlib"}), {}, BOMB, "'zlib' makes larger than"),
        (OBJECTS, {}, '{"a": 1}', "no list"),
        (OBJECTS, {}, '"abcdef"', "no list"),
        (OBJECTS, {"_COMPOUND_DTYPE": [["", "<i4"]]}, '[[1],[1],[1],[1],"|O",[4]]', "by an empty name"),
        (OBJECTS, {"_COMPOUND_DTYPE": [["a", "V0"]]}, '[[1],[1],[1],[1],"|O",[4]]', "has no form"),
        (
            array([1000], "|O", filters=[{"id": "json2"}]),
            {"_COMPOUND_DTYPE": [["a", "<U9"]]},
            json.dumps([["x" * 20_000]] + [["y"]] * 999 + ["|O", [1000]]),
            "values of 80,000,000 bytes",
        ),
    ],
)
def test_what_would_take_much_memory_or_is_broken_is_left_out(zarray, attributes, chunk, reason):
    document = small(**{"x/.zarray": zarray, "x/.zattrs": attributes, "x/0": chunk, "y/.zgroup": GROUP})
    assert reason in reasons(document)["/x"]


def test_many_small_chunks_that_become_large_are_stopped():
    refs = {f"a{n}/.zarray": array([2**20], "<f8") for n in range(20)} | {
        f"a{n}/0": "base64:" for n in range(20)
    }
    assert len(reasons(small(**refs))) == 12  # eight of 8 MiB are what a document may hold


def test_links_in_links_take_no_time():
    refs = {}
    for number in range(300):
        refs[f"l{number}/.zgroup"] = GROUP
        refs[f"l{number}/.zattrs"] = {"_SOFT_LINK": {"path": f"/l{number}" + "/l0" * 1000}}
    assert set(reasons(small(**refs))) == {f"/l{number}" for number in range(300)}


@pytest.mark.parametrize("depth", [200, 5000])
def test_attributes_that_are_nested_too_deep(depth):
    text = '{"a":' + "[" * depth + "]" * depth + "}"
    with pytest.raises(InvalidReferencesError, match=r"'.zattrs' is nested more than 100 deep"):
        lindi_to_rfs(small(**{".zattrs": text}))


def test_keys_with_thousands_of_digits_are_no_chunks():
    data = "base64:" + base64.b64encode(np.arange(4, dtype="<i2").tobytes()).decode()
    rfs = lindi_to_rfs(small(**{"x/.zarray": array(), "x/0": data, "x/" + "9" * 5000: "ab"}))
    assert open_rfs(rfs)["x"][...].tolist() == [0, 1, 2, 3]


def test_a_place_that_is_no_url(tmp_path):
    document = small(**{"x/.zarray": array(), "x/0": ["http://[::1", 0, 8]})
    rfs = lindi_to_rfs(document)
    assert "could not be asked for its size" in rfs["converted"][0]["what"]
    document = small(**{"x/.zarray": array(), "x/.zattrs": link("http://[::1/?X-Amz-Signature=hidden")})
    with pytest.raises(UsageError, match="by a URL with a signature") as caught:
        lindi_to_rfs(document)
    assert "hidden" not in str(caught.value)


class TestLocalFiles:
    """What a document from elsewhere names on this machine is not read unless that is allowed."""

    @pytest.fixture
    def served(self, tmp_path):
        (tmp_path / "here").mkdir()
        (tmp_path / "there").mkdir()
        secret = tmp_path / "here" / "secret.h5"
        with h5py.File(secret, "w") as file:
            file["x"] = np.arange(4, dtype="<i2")
        with RangeServer(tmp_path / "there") as server:
            yield server, tmp_path / "there", secret

    @pytest.mark.parametrize("spelled", ["{}", "file://{}"])
    def test_a_link(self, served, spelled):
        server, folder, secret = served
        refs = {"x/.zarray": array(), "x/.zattrs": link(spelled.format(secret)), "y/.zgroup": GROUP}
        (folder / "d.lindi.json").write_text(json.dumps(small(**refs)))
        found = reasons(server.url("d.lindi.json"))
        assert "secret.h5 of this machine, which is not opened for references from elsewhere" in found["/x"]
        allowed = lindi_to_rfs(server.url("d.lindi.json"), allow_local_files=True)
        assert open_rfs(allowed)["x"][...].tolist() == [0, 1, 2, 3]
        assert reasons(folder / "d.lindi.json") == {}  # a local document may

    @pytest.mark.parametrize("form", ["lindi", "kerchunk"])
    def test_chunks(self, served, tmp_path, capsys, form):
        server, folder, secret = served
        refs = {"x/.zarray": array(), "x/0": [str(secret), 0, 8]}
        (folder / "d.json").write_text(json.dumps(small(**refs)))
        call = ["convert", "--from", form, "--to", "rfs", server.url("d.json"), str(tmp_path / "out")]
        assert main(call) == 1
        assert "names the file" in capsys.readouterr().err
        assert not (tmp_path / "out").exists()
        assert main([*call, "--allow-local-files"]) == 0

    def test_links_that_leave_the_folder_stay_on_the_server(self, served):
        server, folder, _ = served
        refs = {"x/.zarray": array(), "x/.zattrs": link("../../../../etc/passwd")}
        (folder / "d.lindi.json").write_text(json.dumps(small(**refs)))
        assert reasons(server.url("d.lindi.json"))["/x"].startswith(
            f"its external array link cannot be followed: {server.url('etc/passwd')}"
        )


class TestArchives:
    @staticmethod
    def archive(entry, index):
        """A .lindi.tar, as far as its reader looks."""
        data = json.dumps(index).encode()
        place = json.dumps(entry or {"index": {"d": 2048, "s": len(data)}}).encode()
        return bytes(512) + place.ljust(1024) + bytes(512) + data

    @pytest.mark.parametrize(
        ("entry", "index"),
        [
            ({"index": {"d": -5, "s": 10}}, {}),
            ({"index": {"d": 2**62, "s": 10}}, {}),
            ({"index": {"d": 0, "s": 2**50}}, {}),
            ({"index": [1]}, {}),
            (None, [1]),
            (None, {"files": [{"n": [1], "d": 0, "s": 1}]}),
            (None, {"files": [{"n": "lindi.json", "d": -1, "s": 1}]}),
            (None, {"files": [{"n": "lindi.json", "d": 0, "s": 2**60}]}),
            (None, {"files": [{"n": "../lindi.json", "d": 0, "s": 1}]}),
        ],
    )
    def test_an_index_that_is_wrong(self, tmp_path, capsys, entry, index):
        (tmp_path / "x.lindi.tar").write_bytes(self.archive(entry, index))
        call = ["convert", "--from", "lindi", "--to", "rfs", str(tmp_path / "x.lindi.tar")]
        assert main([*call, str(tmp_path / "out")]) == 1
        error = capsys.readouterr().err
        assert "x.lindi.tar" in error
        assert "unexpected" not in error
        assert not (tmp_path / "out").exists()
