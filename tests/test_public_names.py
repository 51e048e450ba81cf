"""The public list is one list: what is named can be had, lazily, and is documented."""

import subprocess
import sys

import pytest

import shadowzarr


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
