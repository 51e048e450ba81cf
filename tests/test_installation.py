"""Messages say how to install what is missing in the way that this package was installed."""

import json
import sys
from pathlib import Path
from urllib.request import pathname2url

import pytest

from shadowzarr import _installation
from shadowzarr._installation import install_extra, install_library
from shadowzarr.doctor.environment import OVERRIDDEN


class Installed:
    """What is known of a package that is installed."""

    def __init__(self, tool, origin):
        self.files = {"INSTALLER": f"{tool}\n", "direct_url.json": origin and json.dumps(origin)}

    def read_text(self, name):
        return self.files[name]


@pytest.fixture
def installed(monkeypatch, tmp_path):
    """Let the package be installed by a tool from somewhere, into the environment that is active."""
    monkeypatch.setenv("VIRTUAL_ENV", sys.prefix)
    monkeypatch.setattr(_installation.shutil, "which", lambda name: f"/usr/bin/{name}")
    monkeypatch.chdir(tmp_path)

    def install(tool="pip", origin=None):
        monkeypatch.setattr(_installation, "distribution", lambda name: Installed(tool, origin))

    return install


def clone(folder, *, is_editable=True):
    return {
        "url": f"file://{pathname2url(str(folder))}",
        "dir_info": {"editable": True} if is_editable else {},
    }


def test_a_release(installed):
    installed()
    assert install_extra("nwb") == 'pip install "shadowzarr[nwb]"'
    assert install_extra() == 'pip install "shadowzarr"'
    assert install_extra("tiff", again=True) == 'pip install --force-reinstall "shadowzarr[tiff]"'


def test_a_clone_takes_its_extras_from_its_folder(installed, tmp_path):
    installed(origin=clone(tmp_path))
    assert install_extra("nwb") == 'pip install -e ".[nwb]"'
    installed(origin=clone(tmp_path, is_editable=False))
    assert install_extra("nwb") == 'pip install ".[nwb]"'
    other = tmp_path / "a clone"
    installed(origin=clone(other))
    assert install_extra("nwb") == f'pip install -e "{other}[nwb]"'


def test_a_wheel_and_a_commit_are_taken_from_where_they_came_from(installed):
    installed(origin={"url": "https://host/shadowzarr-0.1.0-py3-none-any.whl", "archive_info": {}})
    assert install_extra("hdf5").endswith(
        ' "shadowzarr[hdf5] @ https://host/shadowzarr-0.1.0-py3-none-any.whl"'
    )
    installed(origin={"url": "https://host/x.git", "vcs_info": {"vcs": "git", "commit_id": "c0ffee"}})
    assert install_extra("hdf5") == 'pip install "shadowzarr[hdf5] @ git+https://host/x.git@c0ffee"'


def test_an_environment_of_uv_has_no_pip(installed, tmp_path):
    installed("uv")
    assert install_extra("nwb") == 'uv pip install "shadowzarr[nwb]"'
    installed("uv", clone(tmp_path))
    assert install_extra("nwb") == 'uv pip install -e ".[nwb]"'
    assert install_library("zarr>=3.4") == 'uv pip install "zarr>=3.4"'
    other = tmp_path / "clone"
    installed("uv", clone(other))  # uv looks for the overrides where it runs
    assert install_extra("nwb") == f'uv --directory {other} pip install -e "{other}[nwb]"'


def test_uv_is_told_of_an_environment_that_it_would_not_find(installed, monkeypatch, tmp_path):
    installed("uv")
    monkeypatch.delenv("VIRTUAL_ENV")
    assert install_library("h5py") == f"uv pip install --python {sys.executable} h5py"
    monkeypatch.setattr(sys, "prefix", str(tmp_path / ".venv"))
    assert install_library("h5py") == "uv pip install h5py"


def test_the_uv_of_a_clone_does_where_there_is_no_other(installed, monkeypatch, tmp_path):
    own = tmp_path / ".uv" / "bin" / "uv"
    own.parent.mkdir(parents=True)
    own.touch()
    installed("uv", clone(tmp_path))
    assert install_extra("nwb") == 'uv pip install -e ".[nwb]"'
    monkeypatch.setattr(_installation.shutil, "which", lambda name: None)
    assert install_extra("nwb") == '.uv/bin/uv pip install -e ".[nwb]"'
    monkeypatch.chdir("/")
    assert install_extra("nwb") == f'{own} --directory {tmp_path} pip install -e "{tmp_path}[nwb]"'


def test_what_pip_refuses_beside_this_package_is_installed_by_uv(installed, tmp_path):
    assert set(_installation.OVERRIDDEN) == {name for name, _ in OVERRIDDEN}
    installed(origin=clone(tmp_path))
    assert install_extra("dandi") == 'uv pip install -e ".[dandi]"'


def test_libraries(installed):
    installed()
    assert install_library("h5py", again=True) == "pip install --force-reinstall h5py"
    assert install_library("hdmf-zarr", newest=True) == "pip install --upgrade hdmf-zarr"
    assert install_library("zarr>=3.4") == 'pip install "zarr>=3.4"'


def test_sources_that_are_not_installed(installed, monkeypatch):
    def none(name):
        raise _installation.PackageNotFoundError(name)

    monkeypatch.setattr(_installation, "distribution", none)
    assert install_extra("nwb") == 'pip install "shadowzarr[nwb]"'


def test_this_environment(monkeypatch):
    """As it is: a clone that `make env` has installed, or what the tests run against."""
    monkeypatch.chdir(Path(__file__).resolve().parents[1])
    assert "pip install " in install_extra("nwb")
    assert install_extra("nwb").endswith('[nwb]"') or " @ " in install_extra("nwb")
