"""The page docs/materialize.md: its examples run, and its tables are those of the code."""

import inspect
import re
from pathlib import Path

import h5py
import numpy as np
import pytest

from shadowzarr import generate_rfs, write_rfs
from shadowzarr.export.materialize import LAYOUTS
from shadowzarr.export.materialize.layouts import ARGUMENTS
from shadowzarr.export.materialize.place import NOTE
from shadowzarr.refs.extension import NAME, TRAVELLING

ROOT = Path(__file__).resolve().parents[3]
PAGE = (ROOT / "docs" / "materialize.md").read_text(encoding="utf-8")


def test_the_examples_run(tmp_path, monkeypatch):
    icechunk = pytest.importorskip("icechunk")
    pytest.importorskip("hdmf_zarr")
    pytest.importorskip("xarray")
    from shadowzarr.nwb import read_nwb
    from shadowzarr.testing.sample_nwb import write_recording

    icechunk.set_logs_filter("error")
    monkeypatch.chdir(tmp_path)
    write_rfs(generate_rfs(write_recording(tmp_path / "session.nwb")), "session.shadowzarr")
    with h5py.File("air.nc", "w") as file:
        file["x"] = np.arange(3.0)
        file["x"].make_scale("x")
        file["x"].attrs["_FillValue"] = np.array([1.0])
    write_rfs(generate_rfs("air.nc"), "air.shadowzarr")
    names = {}
    for code in re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL):
        exec(code, names)
    assert names["report"].verified
    assert np.isnan(names["opened"]["x"].values).tolist() == [False, True, False]
    expected = read_nwb("session.shadowzarr").acquisition["ElectricalSeries"].data[:]
    for place in ("session.zarr", "sharded.zarr", names["repo"].readonly_session("main").store):
        assert (read_nwb(place).acquisition["ElectricalSeries"].data[:] == expected).all()


def test_options_are_those_of_the_command():
    from shadowzarr.cli.materialize import materialize

    parameters = inspect.signature(materialize).parameters.values()
    options = [each.name.replace("_", "-") for each in parameters if each.kind is each.KEYWORD_ONLY]
    assert re.findall(r"^\| `--([a-z-]+)", PAGE, re.MULTILINE) == options


def test_names():
    assert re.findall(r'^\| `"(\w+)"` \|', PAGE, re.MULTILINE) == list(LAYOUTS)
    assert (
        set(
            re.findall(r"It may say (.*?)\. With", PAGE, re.DOTALL)[0]
            .replace("`", "")
            .replace(" and", ",")
            .replace("\n", " ")
            .split(", ")
        )
        == ARGUMENTS
    )
    assert f"`{NOTE}`" in PAGE
    assert f"a member `{NAME}`" in PAGE
    for part in TRAVELLING:
        assert f"`{part}`" in PAGE


def test_it_is_linked_and_its_links_lead_somewhere():
    assert "(docs/materialize.md)" in (ROOT / "README.md").read_text(encoding="utf-8")
    for link in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", PAGE):
        assert (ROOT / "docs" / link).exists(), link
