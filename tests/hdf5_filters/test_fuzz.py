"""Damaged chunks and values: values, an error of ours, or a decoder process that is lost; nothing else."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from .fuzz import BUILT_IN, plug_ins

CASES = int(os.environ.get("FUZZ_CASES", "45"))
ARE_CAREFUL = (*BUILT_IN, *(name for name in plug_ins() if name not in {"zfp", "sz", "sz3", "sperr"}))
CRASH = ("zfp", "sz", "sperr")
"""Their libraries believe what they read: the reader gets an error for it."""
DO_NOT_NOTICE = ("sz3",)
"""And this one gives what was in memory for what is missing; it is for data without a checksum."""

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="glibc fills what is not written, if asked")


def outcomes(names):
    script = Path(__file__).with_name("fuzz.py")
    command = [sys.executable, script, str(CASES), *names]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    counts = json.loads(done.stdout)
    assert set(counts) == set(names)
    return counts


@pytest.mark.timeout(60 * CASES)
def test_filters_whose_input_is_checked():
    for name, counts in outcomes(ARE_CAREFUL).items():
        allowed = {"is right", "is refused", "is other values"}
        assert allowed.issuperset(counts["data"]), name
        assert allowed.issuperset(counts["values"]), name
        assert counts["data"]["is refused"] > CASES // 20, name


@pytest.mark.timeout(60 * CASES)
def test_plug_ins_that_crash():
    pytest.importorskip("hdf5plugin")
    for name, counts in outcomes(CRASH + DO_NOT_NOTICE).items():
        allowed = {"is right", "is refused", "is other values", "crashes"}
        if name in DO_NOT_NOTICE:
            allowed.add("holds memory as it was")
        assert allowed.issuperset(counts["data"]), name
        assert allowed.issuperset(counts["values"]), name
