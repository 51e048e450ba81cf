"""The public list is one list: what is named can be had, lazily, and is documented."""

import importlib
import inspect
import re
import subprocess
import sys

import pytest

import shadowzarr

MODULES = [
    f"shadowzarr.{name}"
    for name in ("nwb", "icechunk", "virtualizarr", "neuroconv_bridge", "verify", "doctor")
]
"""Promised beside the package itself; those of `shadowzarr.testing` are for tests."""


@pytest.mark.parametrize("name", shadowzarr.__all__)
def test_every_public_name_exists_and_says_what_it_is(name):
    assert getattr(shadowzarr, name).__doc__


def test_the_list_is_sorted_and_whole():
    assert list(shadowzarr.__all__) == sorted(shadowzarr.__all__)
    assert set(shadowzarr.__all__) <= set(dir(shadowzarr))


def test_a_name_that_is_not_there():
    with pytest.raises(AttributeError, match="no attribute 'generate'"):
        shadowzarr.generate  # noqa: B018


def test_importing_the_package_imports_nothing_heavy():
    code = "import sys, shadowzarr; print({'zarr', 'h5py', 'numpy', 'httpx', 'obstore'} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "set()"


def promised():
    """Functions, and methods of classes, by their names; methods of zarr's stores are zarr's to describe."""
    for module in ("shadowzarr", *MODULES):
        place = importlib.import_module(module)
        for name in place.__all__:
            value = getattr(place, name)
            if inspect.isfunction(value):
                yield f"{module}.{name}", value
            if not inspect.isclass(value) or issubclass(value, Exception):
                continue
            for method, function in inspect.getmembers(value, inspect.isroutine):
                owners = [each for each in value.__mro__ if method in vars(each)]
                if not method.startswith("_") and all(
                    each.__module__.startswith("shadowzarr.") for each in owners
                ):
                    yield f"{module}.{name}.{method}", function


PROMISED = dict(promised())


@pytest.mark.parametrize("name", PROMISED)
def test_every_parameter_and_what_is_returned_is_described(name):
    """In numpydoc's sections. What a method returns, its first line says."""
    function = PROMISED[name]
    text = inspect.getdoc(function) or ""
    described = text.partition("Parameters\n----------\n")[2].partition("\n\n")[0]
    parameters = set(inspect.signature(function).parameters) - {"self", "cls"}
    lines = re.findall(r"^(\S.*)$", described, re.MULTILINE)
    named = {each.lstrip("*") for line in lines for each in line.split(" :")[0].split(", ")}
    assert parameters <= named
    is_function = inspect.isfunction(function) and "." not in function.__qualname__
    if is_function and inspect.signature(function).return_annotation != "None":
        assert re.search(r"^(Returns|Yields)$", text, re.MULTILINE)
