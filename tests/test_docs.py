"""The pages in docs/ say what the code does, where a table can be compared with it."""

import json
import re
import subprocess
import sys
import typing
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

import numpy as np
import pytest

from shadowzarr.attributes.bytes_attributes import BYTES
from shadowzarr.attributes.non_finite import NON_FINITE
from shadowzarr.formats.hdf5.attr_conversion import RESERVED
from shadowzarr.refs import chunk_index, document, gen
from shadowzarr.verify import MAPPINGS

ROOT = Path(__file__).resolve().parents[1]
PIPELINE = (ROOT / "docs" / "pipeline.md").read_text(encoding="utf-8")
FORMAT = (ROOT / "docs" / "format.md").read_text(encoding="utf-8")


def test_every_key_of_a_document_is_described() -> None:
    described = set(re.findall(r"^\| `(\w+)` \|", FORMAT.partition("## `refs`")[0], re.MULTILINE))
    assert described == set(document.Rfs.__annotations__)


def test_versions_and_requirements_are_those_of_the_code() -> None:
    assert f"format **{document.FORMAT_VERSION}**" in FORMAT
    for requirement in document.KNOWN_REQUIREMENTS:
        assert f"## `{requirement}`" in FORMAT


@pytest.mark.parametrize("convention", [BYTES, NON_FINITE])
def test_conventions_are_named_by_their_identifiers(convention: object) -> None:
    assert f"`{convention.uuid}`" in FORMAT
    assert f"`{convention.name}`" in FORMAT


def test_allowed_differences_are_those_of_verification() -> None:
    rows = dict(
        re.findall(r"^\| `(\w+)` \| (.*) \|$", FORMAT.partition("## What verification")[2], re.MULTILINE)
    )
    assert rows == MAPPINGS


def test_reserved_attributes_are_named() -> None:
    for name in RESERVED:
        assert f"`{name}`" in FORMAT


def test_the_example_rule_and_grid_are_right() -> None:
    example = re.search(r'\{"key": .*?\}\}\}', FORMAT, re.DOTALL)[0]
    entry = json.loads(example)
    location = gen.location_at(entry, {"u0": "http://h/f"}, (2,))
    assert (location.url, location.offset, location.length) == ("http://h/f", 2048 + 2 * 4194304, 4194304)
    assert gen.location_at(entry, {"u0": "http://h/f"}, (58,)) is None
    assert chunk_index.index_chunk_shape((2048, 160)) == (409, 160, 2)
    assert "(409, 160, 2)" in FORMAT


@pytest.mark.parametrize(
    ("expression", "value"), [("7 // 2", 3), ("-7 // 2", -4), ("-7 % 3", 2), ("(1 + 2) * -i", -15)]
)
def test_the_grammar_is_what_is_evaluated(expression: str, value: int) -> None:
    assert gen.evaluate(expression, {"i": 5}) == value


def test_the_codec_of_tiff_segments_is_described() -> None:
    from dataclasses import fields

    from shadowzarr.tiff_segments.one_segment_file import SegmentForm

    table = FORMAT.partition("## How TIFF becomes Zarr")[2].partition("## ")[0]
    rows = re.findall(r"^\| (`.*?) \| .* \| (.*?) \|$", table, re.MULTILINE)
    described = {key: default.strip("`") for keys, default in rows for key in re.findall(r"`(\w+)`", keys)}
    form = SegmentForm("little", 3, 2)
    assert described.keys() == {field.name for field in fields(SegmentForm)}
    for name, default in described.items():
        value = getattr(form, name)
        shown = (
            value.decode() if isinstance(value, bytes) else list(value) if isinstance(value, tuple) else value
        )
        assert default == "required" or json.loads(default) == shown, name


def test_the_example_of_tiff_files_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    tifffile = pytest.importorskip("tifffile")
    pytest.importorskip("imagecodecs")
    page = (ROOT / "docs" / "tiff.md").read_text(encoding="utf-8")
    (example,) = re.findall(r"^```python\n(.*?)^```$", page, re.DOTALL | re.MULTILINE)
    values = np.arange(5 * 20 * 30, dtype="u2").reshape(5, 20, 30)
    metadata = {"axes": "ZYX", "PhysicalSizeX": 0.25, "PhysicalSizeY": 0.25}
    tifffile.imwrite(tmp_path / "stack.ome.tif", values, metadata=metadata)
    monkeypatch.chdir(tmp_path)
    exec(compile(example, "docs/tiff.md", "exec"), {})
    assert "('z', 'y', 'x') {'x': 0.25, 'y': 0.25}" in capsys.readouterr().out


def config_fields(model: type, prefix: str = "") -> dict[str, str]:
    """Keys of a configuration with their defaults, as the page writes them."""
    from pydantic import BaseModel

    def models(annotation: object) -> list[type]:
        if isinstance(annotation, type) and issubclass(annotation, BaseModel):
            return [annotation]
        return [found for each in typing.get_args(annotation) for found in models(each)]

    fields: dict[str, str] = {}
    for name, field in model.model_fields.items():
        inner = models(field.annotation)
        if not inner:
            fields[prefix + name] = (
                "required" if field.is_required() else written(field.get_default(call_default_factory=True))
            )
        for section in inner:
            dots = "[]." if "list[" in str(field.annotation) else "."
            fields |= config_fields(section, f"{prefix}{name}{dots}")
    return fields


def written(default: object) -> str:
    if default is None or isinstance(default, bool | int | float):
        return json.dumps(default)
    return f"`{default}`" if isinstance(default, str) else f"`{json.dumps(default)}`"


def test_every_key_of_the_configuration_is_described_with_its_default() -> None:
    pytest.importorskip("pydantic")
    from flows.index_config import IndexDandisetsConfig

    rows = dict(re.findall(r"^\| `([a-z_.\[\]]+)` \| (\S.*?) \| \S", PIPELINE, re.MULTILINE))
    fields = config_fields(IndexDandisetsConfig)
    sections = {"archive", "dandisets", "folders", "manifests", "output"}
    assert set(rows) - sections == set(fields)
    assert sections <= set(rows)
    for key, default in fields.items():
        assert rows[key] == ("processors" if key == "run.concurrency" else default), key


def test_the_example_configuration_is_valid(tmp_path: Path) -> None:
    pytest.importorskip("pydantic")
    from flows.load_config import load_config

    first, second, bucket = re.findall(r"^```yaml\n(.*?)^```$", PIPELINE, re.DOTALL | re.MULTILINE)
    (tmp_path / "config.yaml").write_text(first)
    config = load_config(tmp_path / "config.yaml")
    assert [(each.id, each.version) for each in config.dandisets] == [
        ("000006", "draft"),
        ("000409", "latest"),
    ]
    (tmp_path / "config.yaml").write_text(first.replace("output: references\n", bucket))
    assert str(load_config(tmp_path / "config.yaml").request.output) == "s3://my-bucket/references"
    (tmp_path / "config.yaml").write_text(second)
    request = load_config(tmp_path / "config.yaml").request
    assert [each.name for each in request.wanted] == ["stacks", "recordings"]


def test_the_example_list_of_files_is_understood() -> None:
    from shadowzarr.catalog.manifests import parse_manifest

    example = re.search(r"^```\n(url,.*?)^```$", PIPELINE, re.DOTALL | re.MULTILINE)[1]
    first, second = parse_manifest(example, "list.csv")
    assert (first.name, first.size, first.etag) == ("day-1/stack.tif", "123456", "3f2c")
    assert (second.url, second.name, second.size) == ("../local/2.h5", "day-1/run.h5", "")


def test_exit_codes_are_those_of_the_code() -> None:
    from flows.stop_run import SIGNALLED, SIGNALS
    from shadowzarr.catalog import run_summary
    from shadowzarr.cli.exit_codes import CALLED_WRONGLY

    section = PIPELINE.partition("| exit code |")[2].partition("## Configuration")[0]
    codes = {int(code) for code in re.findall(r"^\| (\d+) \|", section, re.MULTILINE)}
    ours = {run_summary.EXIT_ALL_WELL, run_summary.EXIT_FAILURE, run_summary.EXIT_LEFT_OUT}
    assert codes == {*ours, CALLED_WRONGLY, *(SIGNALLED + number for number in SIGNALS)}


def test_exit_codes_of_the_command_lines_are_those_of_the_code() -> None:
    from shadowzarr.cli.exit_codes import MEANINGS

    page = (ROOT / "docs" / "command-line.md").read_text(encoding="utf-8")
    table = page.partition("## Exit codes")[2]
    rows = {int(code): meaning for code, meaning in re.findall(r"^\| (\d+) \| (.*) \|$", table, re.MULTILINE)}
    assert rows == MEANINGS


def test_verbs_that_print_json_are_those_of_the_command() -> None:
    import importlib
    from inspect import signature

    from shadowzarr.cli.verbs import VERBS

    page = (ROOT / "docs" / "command-line.md").read_text(encoding="utf-8")
    sentence = page.partition("one JSON object in place of text")[2].partition(". ")[0]
    names = {verb: verb.replace("-", "_") for verb in VERBS}
    modules = {verb: importlib.import_module(f"shadowzarr.cli.{name}") for verb, name in names.items()}
    having = {
        verb for verb, at in modules.items() if "json" in signature(getattr(at, names[verb])).parameters
    }
    assert set(re.findall(r"`([a-z0-9-]+)`", sentence)) == having


def test_public_names_are_listed_in_the_readme() -> None:
    import shadowzarr

    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    table = readme.partition("## The library")[2].partition("## ")[0]
    rows = [line.split("|")[1] for line in table.splitlines() if line.startswith("| `")]
    assert sorted(re.findall(r"`(\w+)`", "".join(rows))) == sorted(shadowzarr.__all__)


def test_the_reference_shows_methods_that_a_class_has_from_another_of_the_package() -> None:
    """The builder's are all in classes that it is made of."""
    spec = spec_from_file_location("generated_pages", ROOT / "docs" / "_ext" / "generated_pages.py")
    assert spec is not None
    assert spec.loader is not None
    generated = module_from_spec(spec)
    spec.loader.exec_module(generated)
    page = generated.api_page()
    assert ".. autoclass:: shadowzarr.RfsBuilder\n   :members:\n   :inherited-members: object\n" in page
    assert "   :inherited-members: ABC, Store, object\n" in page  # zarr's own stay out of the store's


def test_options_of_reading_are_described_with_their_defaults() -> None:
    from inspect import signature

    from shadowzarr import RfsStore, errors

    page = (ROOT / "docs" / "reading.md").read_text(encoding="utf-8")
    options = page.partition("## Options")[2].partition("###")[0]
    rows = dict(re.findall(r"^\| `(\w+)` \| (.*?) \|", options, re.MULTILINE))
    defaults = {name: each.default for name, each in signature(RfsStore).parameters.items() if name != "rfs"}
    assert rows.keys() == defaults.keys()
    sizes = {"KiB": 2**10, "MiB": 2**20}
    for name, default in defaults.items():
        if type(default) is int:
            number, unit = rows[name].split()
            assert int(number) * sizes[unit] == default, name
        elif name != "reader":
            assert rows[name] == f"`{default}`", name
    for name in re.findall(r"`(\w+Error)`", page):
        assert issubclass(getattr(errors, name), errors.ShadowzarrError)


def test_notebooks_have_time_on_a_busy_machine():
    pytest.importorskip("nbclient", reason="the group docs is not installed")
    script = (
        "import runpy, nbformat, nbclient; runpy.run_path('docs/conf.py'); "
        "print(nbclient.NotebookClient(nbformat.v4.new_notebook()).startup_timeout)"
    )
    run = subprocess.run([sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True, check=True)
    assert run.stdout == "300\n"
