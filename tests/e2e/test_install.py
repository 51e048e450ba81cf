"""The wheel in an environment of its own, as a scientist installs it."""

import os
import shutil
import subprocess
import sys
import venv
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
CONSTRAINTS = ROOT / "constraints.txt"


def run(*command, **options):
    done = subprocess.run(
        [str(part) for part in command], capture_output=True, text=True, timeout=550, check=False, **options
    )
    assert done.returncode == 0, f"{command}\n{done.stdout}\n{done.stderr}"
    return done.stdout


def install(folder: Path, what: str, *options: str) -> Path:
    """A new environment with the project in it; returns its folder of programs."""
    source = folder / "source"
    shutil.copytree(ROOT / "shadowzarr", source / "shadowzarr", ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("pyproject.toml", "README.md", "LICENSE", "CHANGELOG.md", ".gitignore"):
        shutil.copy(ROOT / name, source / name)
    built = source / "shadowzarr" / "catalog" / "site" / "assets"
    built.mkdir(exist_ok=True)
    (built / "page-of-this-test.js").touch()  # as `make site-assets` would, which git does not keep
    venv.create(folder / "env", with_pip=True)
    programs = folder / "env" / "bin"
    run(programs / "pip", "install", "-q", "--no-compile", "-c", CONSTRAINTS, *options, f"{source}{what}")
    return programs


@pytest.mark.xdist_group("install")
def test_the_base_install_generates_and_verifies_without_the_pipeline(tmp_path):
    programs = install(tmp_path, "")
    make = "import h5py, numpy as np\nwith h5py.File('x.nwb', 'w') as f:\n"
    make += "    f.create_dataset('a', data=np.arange(9000.).reshape(90, 100), chunks=(10, 100),"
    make += " compression='gzip', shuffle=True)\n    f['s'] = ['one', 'two']\n"
    run(programs / "python", "-c", make, cwd=tmp_path)
    environment = {**os.environ, "PATH": f"{programs}:{os.environ['PATH']}"}
    run(
        "sh",
        "-c",
        "shadowzarr generate x.nwb out && shadowzarr verify out --full",
        cwd=tmp_path,
        env=environment,
    )
    site = "import os, shadowzarr.catalog.site as s; print(os.listdir(s.__path__[0] + '/assets'))"
    assert "page-of-this-test.js" in run(programs / "python", "-c", site, cwd=tmp_path)
    absent = "from importlib.util import find_spec as f; print([*filter(f, ['prefect', 'tasks', 'flows'])])"
    assert run(programs / "python", "-c", absent, cwd=tmp_path).strip() == "[]"


@pytest.mark.xdist_group("install")
@pytest.mark.skipif(
    sys.version_info >= (3, 14), reason="the constraints were resolved for Python 3.12 and 3.13"
)
def test_all_extras_install_by_pip(tmp_path):
    programs = install(tmp_path, "[all]")
    check = "import hdmf_zarr, icechunk, virtualizarr, tifffile, neo, prefect, boto3, zarr as z"
    check += "; print(z.__version__)"
    assert run(programs / "python", "-c", check, cwd=tmp_path).startswith("3.")
