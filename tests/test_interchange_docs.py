"""The examples of docs/interchange.md run."""

import json
import re
import shutil
import warnings
from pathlib import Path

import pytest
from scipy.io import netcdf_file

from shadowzarr import RfsBuilder, VirtualArray, write_rfs

ROOT = Path(__file__).resolve().parents[1]
PAGE = (ROOT / "docs" / "interchange.md").read_text(encoding="utf-8")
GOLDEN = ROOT / "tests" / "golden" / "lindi"
EXAMPLES = re.findall(r"^```python\n(.*?)^```", PAGE, re.DOTALL | re.MULTILINE)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """The files that the examples name."""
    for name in ("sample.h5", "sample.lindi.json"):
        shutil.copy(GOLDEN / name, tmp_path)
    document = json.loads((GOLDEN / "sample.lindi.json").read_text())
    refs = {
        key: value for key, value in document["refs"].items() if key.startswith(("numbers/gzip/", ".zgroup"))
    }
    (tmp_path / "sample.kerchunk.json").write_text(json.dumps({**document, "refs": refs}))
    monkeypatch.chdir(tmp_path)
    with netcdf_file(tmp_path / "air.nc", "w") as file:
        file.createDimension("y", 30)
        file.createDimension("x", 5)
        file.createVariable("air", "f8", ("y", "x"))[:] = 1.5
    offset = (tmp_path / "air.nc").stat().st_size - 1200
    air = VirtualArray.contiguous(tmp_path / "air.nc", shape=(30, 5), dtype=">f8", offset=offset)
    builder = RfsBuilder()
    air.add_to(builder, "air", dimension_names=("y", "x"))
    write_rfs(builder.build(), tmp_path / "air.shadowzarr")
    return tmp_path


@pytest.mark.parametrize("number", range(len(EXAMPLES)))
def test_examples_run(number, folder, capsys):
    with warnings.catch_warnings(action="ignore"):
        exec(compile(EXAMPLES[number], f"example {number}", "exec"), {"folder": folder})
    assert "Traceback" not in capsys.readouterr().err


def test_there_is_one_example_for_each_direction():
    assert len(EXAMPLES) == 6
    ours = ("manifest_store_to_rfs", "rfs_to_manifest_store")
    for name in ("lindi_to_rfs", "rfs_to_lindi", "kerchunk_to_rfs", "write_kerchunk", *ours):
        assert any(f"{name}(" in example for example in EXAMPLES)
