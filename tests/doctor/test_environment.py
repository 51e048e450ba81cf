"""Versions of Python and libraries, against those that pyproject.toml asks for."""

import importlib
import re
import tomllib
from pathlib import Path

import pytest

from shadowzarr._installation import install_extra, install_library
from shadowzarr.doctor import environment

PROJECT = tomllib.loads((Path(__file__).resolve().parents[2] / "pyproject.toml").read_text(encoding="utf-8"))


def found(check):
    return [(each.check, each.state) for each in check()]


def versions(monkeypatch, **changed):
    """Let some libraries have another version, or none."""
    real = environment.version

    def version(name):
        if name not in changed:
            return real(name)
        if changed[name] is None:
            raise environment.PackageNotFoundError(name)
        return changed[name]

    monkeypatch.setattr(environment, "version", version)


def test_extras_are_those_of_the_project():
    assert set(environment.EXTRAS) == set(PROJECT["project"]["optional-dependencies"]) - {"all"}


def test_overridden_caps_are_those_of_the_project():
    overrides = {re.split("[<>=]", text)[0] for text in PROJECT["tool"]["uv"]["override-dependencies"]}
    assert {shared for _, shared in environment.OVERRIDDEN} == overrides


def test_this_environment_is_well():
    assert found(environment.python) == [("python", "fine")]
    assert found(environment.libraries) == [("libraries", "fine")]
    assert {state for _, state in found(environment.extras)} <= {"fine", "note"}


def test_an_old_python(monkeypatch):
    monkeypatch.setattr(environment.platform, "python_version", lambda: "3.9.1")
    (finding,) = environment.python()
    assert (finding.state, finding.says) == ("wrong", "Python 3.9.1, needed: >=3.12")


def test_a_library_that_is_too_old_or_missing(monkeypatch):
    versions(monkeypatch, zarr="2.18.7", obstore=None)
    second, first = environment.libraries()
    assert (first.state, first.says) == ("wrong", "zarr is 2.18.7, needed: >=3.4")
    assert first.remedy == install_library("zarr>=3.4")
    assert (second.state, second.says) == ("wrong", "obstore is not installed")


def test_a_library_that_cannot_be_loaded(monkeypatch):
    real = importlib.import_module

    def import_module(name):
        if name == "h5py":
            raise ImportError("wrong ELF\nclass")
        return real(name)

    monkeypatch.setattr(environment.importlib, "import_module", import_module)
    (finding,) = environment.libraries()
    assert finding.says == "h5py cannot be loaded: wrong ELF class"
    assert finding.remedy == install_library("h5py", again=True)


def test_an_extra_that_is_not_there(monkeypatch):
    versions(monkeypatch, icechunk=None, virtualizarr=None)
    told = {finding.says: finding for finding in environment.extras()}
    finding = told["icechunk is not installed: Icechunk repositories"]
    assert (finding.state, finding.remedy) == ("note", install_extra("icechunk"))


def test_an_extra_that_is_there_in_part(monkeypatch):
    pytest.importorskip("virtualizarr")
    versions(monkeypatch, icechunk=None)
    told = {finding.says: finding for finding in environment.extras()}
    finding = told["icechunk is not installed (icechunk missing): Icechunk repositories"]
    assert (finding.state, finding.remedy) == ("note", install_extra("icechunk"))


def test_libraries_that_are_there_for_other_reasons_make_nothing_wrong(monkeypatch):
    versions(monkeypatch, hdf5plugin=None, fastparquet=None, neuroconv=None)
    assert {finding.state for finding in environment.extras()} <= {"fine", "note"}


def test_an_extra_with_a_library_that_is_too_old(monkeypatch):
    pytest.importorskip("tifffile")
    versions(monkeypatch, tifffile="2020.1.1")
    (finding,) = [each for each in environment.extras() if each.state == "wrong"]
    assert finding.says.startswith("tifffile of the extra tiff is 2020.1.1, needed: >=2026")


def test_a_cap_that_is_not_overridden_is_wrong(monkeypatch):
    pytest.importorskip("dandi")
    monkeypatch.setattr(environment, "OVERRIDDEN", set())
    (finding,) = [each for each in environment.extras() if each.says.startswith("dandi asks for zarr")]
    assert (finding.state, finding.remedy) == ("wrong", install_library("dandi", newest=True))
