"""Known chunks are decoded by every codec that references use; one that is wrong is found."""

import base64
import bz2
import gzip
import zlib
from dataclasses import replace

import pytest

from shadowzarr._installation import install_extra
from shadowzarr.doctor.codecs import STEPS, TEXTS, VECTORS, codecs, decoded

CHUNKS = {vector.name: base64.b64decode(vector.chunk) for vector in VECTORS}


@pytest.mark.parametrize("vector", VECTORS, ids=[vector.name for vector in VECTORS])
def test_a_known_chunk_is_decoded(vector):
    if vector.extra:
        pytest.importorskip("imagecodecs")
        pytest.importorskip("hdf5plugin")
    assert decoded(vector).tolist() == vector.values.tolist()


def test_what_is_known_is_what_others_decode():
    """Standard libraries, not those that are examined, say the same of the chunks."""
    shuffled = STEPS.view("u1").reshape(-1, 2).T.tobytes()
    assert zlib.decompress(CHUNKS["numcodecs.zlib with numcodecs.shuffle"]) == shuffled
    assert gzip.decompress(CHUNKS["gzip"]) == STEPS.tobytes()
    assert bz2.decompress(CHUNKS["numcodecs.bz2"]) == STEPS.tobytes()
    assert CHUNKS["numcodecs.fletcher32"][:-4] == STEPS.tobytes()
    assert TEXTS.tolist()[1].encode() in CHUNKS["vlen-utf8"]


def test_all_of_this_environment_are_right():
    assert {finding.state for finding in codecs()} == {"fine"}


def test_a_codec_that_decodes_other_values():
    wrong = replace(VECTORS[0], values=STEPS + 1)
    (finding,) = codecs((wrong,))
    assert (finding.state, finding.says) == ("wrong", f"{wrong.name}: decodes a known chunk to other values")
    assert finding.remedy == install_extra(again=True)


def test_a_codec_that_fails():
    (finding,) = codecs((replace(VECTORS[2], chunk=VECTORS[3].chunk),))
    assert finding.state == "wrong"
    assert finding.says.startswith("gzip: fails on a chunk that is right (")


def test_codecs_that_are_not_installed_are_a_note(monkeypatch):
    monkeypatch.setattr("shadowzarr.doctor.codecs.installed", lambda name: None)
    fine, *notes = codecs()
    assert "imagecodecs" not in fine.says
    assert [(note.state, note.remedy) for note in notes] == [
        ("note", install_extra("hdf5")),
        ("note", install_extra("tiff")),
    ]
