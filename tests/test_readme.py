"""The README's Python runs, as it stands; its links lead somewhere, its commands exist."""

import re
import shlex
from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).resolve().parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")
EXAMPLE_PATH = "dandi://dandi/000001/sub-01/sub-01_ecephys.nwb"


def blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", README, re.DOTALL | re.MULTILINE)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    pytest.importorskip("pynwb")
    from shadowzarr.testing.sample_nwb import write_recording

    folder = tmp_path_factory.mktemp("readme")
    write_recording(folder / "session.nwb")
    return folder


def test_python_examples_run_in_their_order(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("hdmf_zarr")
    pytest.importorskip("fsspec")
    import h5py

    monkeypatch.chdir(folder)
    names: dict[str, object] = {}
    examples = blocks("python")
    for number, example in enumerate(examples):
        exec(compile(example, f"README.md, example {number}", "exec"), names)
    assert len(examples) >= 5
    assert (folder / "session.shadowzarr" / "refs.json").is_file()
    assert (folder / "session.shadowzarr.json").is_file()
    with h5py.File("session.nwb") as file:
        np.testing.assert_array_equal(names["data"][1000:1010, 3], file[names["data"].path][1000:1010, 3])
        np.testing.assert_array_equal(names["listed"][names["data"].path][:], names["data"][:])
    assert "shadowzarr" not in type(names["listed"].store).__module__
    assert names["report"].equal
    assert "Two shanks in visual cortex" in capsys.readouterr().out


def test_the_option_for_web_sources_is_the_one_that_fsspec_needs(folder: Path, tmp_path: Path) -> None:
    pytest.importorskip("fsspec")
    pytest.importorskip("aiohttp")
    import zarr

    from shadowzarr import generate_rfs, write_rfs
    from shadowzarr.testing import RangeServer

    assert '"remote_options": {"asynchronous": True}' in README
    options = {"fo": str(tmp_path / "web.json"), "remote_options": {"asynchronous": True}}
    with RangeServer(folder) as server:
        rfs = generate_rfs(server.url("session.nwb"))
        write_rfs(rfs, tmp_path / "web.json")
        listed = zarr.open_group("reference://", mode="r", storage_options=options)
        assert listed["acquisition/ElectricalSeries/data"][1000:1003, 3].tolist() == [32, 54, 34]


def test_shadowzarr_commands_exist_and_take_their_arguments(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from shadowzarr.cli import main

    monkeypatch.chdir(folder)
    lines = [line for block in blocks("sh") for line in block.splitlines() if line.startswith("shadowzarr ")]
    local = [line for line in lines if "://" not in line and not line.startswith("shadowzarr archive")]
    assert len(lines) > len(local) >= 3
    for line in local:
        arguments = shlex.split(line)[1:]
        force = ["--force"] if arguments[0] == "generate" else []
        assert main([*arguments, *force]) == 0, line
    assert "equal (all values)" in capsys.readouterr().out


def test_options_in_commands_are_known(capsys: pytest.CaptureFixture[str]) -> None:
    from shadowzarr.cli import main

    main(["generate", "--help"])
    known = capsys.readouterr().out
    for option in re.findall(r"^shadowzarr generate.* (--[a-z0-9-]+)", README, re.MULTILINE):
        assert option in known


def test_make_targets_exist() -> None:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    targets = {word for block in blocks("sh") for word in re.findall(r"^make (\w+)", block, re.MULTILINE)}
    assert targets >= {"demo", "test"}
    for target in targets:
        assert re.search(rf"^{target}:", makefile, re.MULTILINE)


def test_the_first_two_commands_are_demo_and_test() -> None:
    commands = [line for block in blocks("sh") for line in block.splitlines() if line]
    assert [command.split("#")[0].strip() for command in commands[:2]] == ["make demo", "make test"]


def test_extras_exist() -> None:
    import tomllib

    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    named = set(re.findall(r'pip install "\.\[(\w+)\]"', README))
    assert named >= {"nwb", "hdf5", "pipeline"}
    assert named <= set(project["optional-dependencies"])
    assert "pip install shadowzarr" not in README  # until it is published
    version = project["requires-python"].removeprefix(">=")
    assert f"Python {version} or later" in README.partition("## Install")[2]


def test_the_recipe_serves_what_the_example_configuration_asks_for() -> None:
    recipe = README.partition("## For the archive engineer")[2].partition("\n## ")[0]
    commands = [
        line.split("#")[0].strip() for line in recipe.splitlines() if line.startswith((".venv", "make"))
    ]
    port = re.search(r"--api-port (\d+)", recipe)[1]
    assert commands == [
        "make demo",
        f".venv/bin/shadowzarr archive demo/archive --api-port {port} --store-port {int(port) + 1}",
        ".venv/bin/python -m flows run configs/demo.yaml --plan",
        ".venv/bin/python -m flows run configs/demo.yaml",
    ]
    config = (ROOT / "configs" / "demo.yaml").read_text(encoding="utf-8")
    assert re.search(rf"^archive: http://127\.0\.0\.1:{port}/api\b", config, re.MULTILINE)
    assert re.search(r"^output: demo/output$", config, re.MULTILINE)


def test_what_is_checked_of_sources_is_said_as_it_is() -> None:
    for page in ("README.md", "CHANGELOG.md"):
        text = " ".join((ROOT / page).read_text(encoding="utf-8").split())
        assert re.search(r"local (file|one) by its size alone", text), page


def test_the_example_of_a_dandi_path_is_one() -> None:
    from shadowzarr.access import locations

    assert EXAMPLE_PATH in README
    assert locations._DANDI.match(EXAMPLE_PATH)
