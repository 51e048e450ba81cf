"""Python and the libraries: which versions there are, against those that shadowzarr asks for."""

from __future__ import annotations

import importlib
import platform
from collections.abc import Iterator
from importlib.metadata import PackageNotFoundError, distribution, requires, version
from typing import Final

from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet

from .._installation import install_extra, install_library
from .finding import Finding

EXTRAS: Final = {
    "hdf5": "HDF5 files behind plug-in filters (bitshuffle, Blosc2, LZ4, ZFP, …)",
    "tiff": "TIFF files",
    "neo": "recordings of electrophysiology, by NEO",
    "nwb": "references opened by pynwb, and virtual NWB files",
    "parquet": "kerchunk's references in Parquet",
    "virtualizarr": "VirtualiZarr's parsers and manifests",
    "icechunk": "Icechunk repositories",
    "s3": "outputs of the pipeline in a bucket",
    "pipeline": "python -m flows: Prefect, configurations, reports, the catalogue",
    "redis": "deployments whose Prefect server sends messages by Redis",
    "dask": "flows whose files are read by workers of Dask",
    "ray": "flows whose files are read by workers of Ray",
    "dandi": "the DANDI client",
    "neuroconv": "NeuroConv, for shadowzarr.neuroconv_bridge",
}
"""Optional parts, and what each is for."""

OVERRIDDEN: Final = {("dandi", "zarr"), ("neuroconv", "numcodecs")}
"""Caps of one library on another that are too low, and that shadowzarr's tests go beyond."""

BASE: Final = ("numpy", "h5py", "zarr", "numcodecs", "obstore", "urllib3", "httpx", "deflate", "orjson")
"""What the library imports at least."""

NAME: Final = "shadowzarr"


def python() -> Iterator[Finding]:
    """Look whether Python is recent enough."""
    wanted = distribution(NAME).metadata["Requires-Python"]
    found = platform.python_version()
    if SpecifierSet(wanted).contains(found, prereleases=True):
        yield Finding("python", "fine", f"Python {found} (needed: {wanted}), shadowzarr {version(NAME)}")
    else:
        yield Finding("python", "wrong", f"Python {found}, needed: {wanted}", "make an environment with it")


def libraries() -> Iterator[Finding]:
    """Look whether what is always needed is there, in versions that will do, and can be loaded."""
    problems = list(_problems(_requirements(None)))
    problems += [found for name in BASE if (found := _broken(name)) is not None]
    if problems:
        yield from problems
        return
    versions = ", ".join(f"{name} {version(name)}" for name in ("zarr", "h5py", "numpy", "numcodecs"))
    yield Finding(
        "libraries", "fine", f"{versions}; HDF5 {importlib.import_module('h5py').version.hdf5_version}"
    )


def extras() -> Iterator[Finding]:
    """Look which optional parts are there, whole, and in versions that will do."""
    whole, notes = [], []
    for extra in EXTRAS:
        wanted = _requirements(extra)
        missing = [each.name for each in wanted if installed(each.name) is None]
        if missing:  # in part is as good as not: libraries of an extra are there for other reasons too
            lacks = "" if len(missing) == len(wanted) else f" ({', '.join(missing)} missing)"
            says = f"{extra} is not installed{lacks}: {EXTRAS[extra]}"
            notes.append(Finding("extras", "note", says, install_extra(extra)))
            continue
        problems = list(_problems(wanted, extra=extra))
        yield from problems
        if not problems:
            whole.append(extra)
    yield from _caps()
    if whole:
        yield Finding("extras", "fine", f"installed: {', '.join(whole)}")
    yield from notes


def _requirements(extra: str | None) -> list[Requirement]:
    """What an optional part asks for; the library itself when it is None."""
    every = [Requirement(text) for text in requires(NAME) or ()]
    wanted = []
    for each in every:
        in_base = each.marker is None or each.marker.evaluate({"extra": ""})
        in_extra = each.marker is not None and extra is not None and each.marker.evaluate({"extra": extra})
        if (in_base if extra is None else in_extra and not in_base) and each.name != NAME:
            wanted.append(each)
    return wanted


def _problems(wanted: list[Requirement], *, extra: str | None = None) -> Iterator[Finding]:
    check = "libraries" if extra is None else "extras"
    whose = "" if extra is None else f" of the extra {extra}"
    for each in wanted:
        found = installed(each.name)
        if found is None:
            yield Finding(check, "wrong", f"{each.name}{whose} is not installed", install_extra(extra))
        elif not each.specifier.contains(found, prereleases=True):
            says = f"{each.name}{whose} is {found}, needed: {each.specifier}"
            yield Finding(check, "wrong", says, install_library(f"{each.name}{each.specifier}"))


def _caps() -> Iterator[Finding]:
    """What optional libraries ask of the ones they share with shadowzarr."""
    shared = {each.name for each in _requirements(None)}
    optional = {each.name for extra in EXTRAS for each in _requirements(extra)}
    for name in sorted(optional - shared):
        if installed(name) is None:
            continue
        for each in map(Requirement, requires(name) or ()):
            applies = each.marker is None or each.marker.evaluate({"extra": ""})
            found = installed(each.name)
            if each.name not in shared or not applies or found is None:
                continue
            if each.specifier.contains(found, prereleases=True):
                continue
            says = f"{name} asks for {each.name}{each.specifier}, and {found} is installed"
            if (name, each.name) in OVERRIDDEN:
                yield Finding("extras", "note", f"{says}: overridden, and tested so")
            else:
                yield Finding("extras", "wrong", says, install_library(name, newest=True))


def installed(name: str) -> str | None:
    """The version of a library that is installed, or None."""
    try:
        return version(name)
    except PackageNotFoundError:
        return None


def _broken(module: str) -> Finding | None:
    """A library that is installed and cannot be loaded, as one built for another machine."""
    if installed(module) is None:
        return None  # told already
    try:
        importlib.import_module(module)
    except Exception as error:  # noqa: BLE001 - libraries break in any way
        reason = " ".join(str(error).split())
        remedy = install_library(module, again=True)
        return Finding("libraries", "wrong", f"{module} cannot be loaded: {reason}", remedy)
    return None
