from collections.abc import Callable
from pathlib import Path

import h5py
import pytest

from shadowzarr.formats.hdf5.specifications import plain_location


@pytest.mark.parametrize("is_old", [True, False])
def test_cached_specifications_are_scalars(path: Path, generate: Callable, is_old: bool) -> None:
    with h5py.File(path, "w") as f:
        group = f.create_group("specifications/core/2.0")
        group.create_dataset("nwb", data=["{}"] if is_old else "{}", dtype=h5py.string_dtype())
        f.attrs[".specloc"] = f["specifications"].ref
        f.create_dataset("other", data=["{}"], dtype=h5py.string_dtype())
    made = generate()
    assert made.attributes()[".specloc"] == "specifications"
    assert made.metadata("specifications/core/2.0/nwb")["shape"] == []
    assert made["specifications/core/2.0/nwb"] == "{}"
    assert made["other"].tolist() == ["{}"]
    assert ("/specifications/core/2.0/nwb" in made.converted()) is is_old


def test_without_the_reference_nothing_is_changed(path: Path, generate: Callable) -> None:
    with h5py.File(path, "w") as f:
        f.create_dataset("specifications/a", data=["{}"], dtype=h5py.string_dtype())
    assert generate()["specifications/a"].tolist() == ["{}"]


def test_plain_location() -> None:
    attributes = {".specloc": {"_REFERENCE": {"source": ".", "path": "/a/specs"}}}
    assert plain_location(attributes) == "a/specs"
    assert attributes == {".specloc": "a/specs"}
    assert plain_location({}) is None
    assert plain_location({".specloc": 5}) is None
