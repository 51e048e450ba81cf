import json
from pathlib import Path

import pytest
from pydantic import BaseModel, ValidationError

from flows.config_messages import _models_in
from flows.index_config import IndexDandisetsConfig
from flows.models import FLOWS
from shadowzarr.catalog.request import FILE_INCLUDE

ROOT = Path(__file__).resolve().parents[2]
LEAST = {"flow": "index_dandisets", "dandisets": ["000006"], "output": "out"}


def config(**changes) -> IndexDandisetsConfig:
    return IndexDandisetsConfig.model_validate(LEAST | changes)


def models(model: type[BaseModel]):
    yield model
    for field in model.model_fields.values():
        for inner in _models_in(field.annotation):
            yield from models(inner)


@pytest.mark.parametrize("flow", FLOWS)
def test_every_field_is_described_and_unknown_keys_are_refused(flow):
    for model in models(FLOWS[flow]):
        assert model.model_config["extra"] == "forbid"
        assert [name for name, field in model.model_fields.items() if not field.description] == []


@pytest.mark.parametrize("flow", FLOWS)
def test_the_schema_in_the_repository_is_that_of_the_model(flow):
    written = json.loads((ROOT / "configs" / flow / "schema.json").read_text())
    assert written == FLOWS[flow].model_json_schema()


def test_short_forms():
    found = config(archive="http://127.0.0.1:1/api", output="here")
    assert (found.archive.api_url, found.archive.api_key_env) == ("http://127.0.0.1:1/api", None)
    assert (found.dandisets[0].id, found.output.folder) == ("000006", "here")


def test_folders_and_lists_in_the_librarys_words(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    given = {
        "flow": "index_dandisets",
        "output": "out",
        "folders": [
            "raw/stacks",
            {
                "path": "/data/x y",
                "name": "xy",
                "include": "*.tif",
                "url_prefix": "s3://bucket/xy",
                "limit": 3,
            },
        ],
        "manifests": ["lists/all.tsv", {"file": "https://host.test/l.json?a=b", "identity": "digest"}],
    }
    request = IndexDandisetsConfig.model_validate(given).request
    assert request.dandisets == ()
    first, second = request.folders
    assert (first.name, first.path, first.rules.include, first.url_prefix, first.identity) == (
        "stacks",
        tmp_path / "raw" / "stacks",
        FILE_INCLUDE,
        "",
        "time",
    )
    assert (second.name, second.rules.include, second.rules.limit) == ("xy", ("*.tif",), 3)
    assert second.url_prefix == "s3://bucket/xy"
    assert [(each.name, each.file, each.identity) for each in request.manifests] == [
        ("all", str(tmp_path / "lists" / "all.tsv"), "time"),
        ("l", "https://host.test/l.json?a=b", "digest"),
    ]
    assert request.wanted == (*request.folders, *request.manifests)
    assert IndexDandisetsConfig.model_validate(given).warnings == []


def test_the_request_says_the_same_in_the_librarys_words(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    request = config(
        archive={"api_url": "http://x/api/", "api_key_env": "K"},
        dandisets=[{"id": "000001", "version": "latest", "include": "*.nwb", "exclude": ["a*"], "limit": 2}],
        output={"folder": "out", "private_output": "secret"},
        references={"form": "json", "chunk_index_threshold": None},
        verification={"mode": "full", "seed": 3},
        run={"concurrency": 5, "retries": 0, "timeout": None, "memory_limit": None},
        on_error="stop",
    ).request
    assert (request.archive.api_url, request.archive.api_key_env) == ("http://x/api", "K")
    (wanted,) = request.dandisets
    assert (wanted.dandiset, wanted.version, wanted.rules.limit) == ("000001", "latest", 2)
    assert (wanted.rules.include, wanted.rules.exclude) == (("*.nwb",), ("a*",))
    assert (request.output, request.private_output) == (tmp_path / "out", tmp_path / "secret")
    assert (request.options.form, request.options.chunk_index_threshold) == ("json", None)
    assert (request.verification.mode, request.verification.seed) == ("full", 3)
    assert (request.concurrency, request.timeout, request.memory_limit) == (5, None, None)
    assert request.stop_on_error
    assert request.window == 7


def test_what_may_be_a_mistake_is_said():
    found = config(icechunk={"repository": "x"}, materialize={"folder": "y"}, verification={"mode": "none"})
    assert [warning.split(":")[0] for warning in found.warnings] == [
        "verification.mode is none",
        "materialize",
    ]
    assert config(icechunk={"repository": "x", "enabled": False}).warnings == []


def test_a_key_that_is_named_and_not_there_is_warned_of(monkeypatch):
    monkeypatch.delenv("SOME_KEY", raising=False)
    monkeypatch.delenv("DANDI_API_KEY", raising=False)
    named = {"api_url": "https://example.org/api", "api_key_env": "SOME_KEY"}
    (warning,) = config(archive=named).warnings
    assert "SOME_KEY" in warning
    assert config(archive="dandi").warnings == []
    monkeypatch.setenv("SOME_KEY", "secret")
    assert config(archive=named).warnings == []


def test_the_digest_tells_configurations_apart_but_not_their_files():
    assert config().digest == config().read_from("somewhere").digest
    assert config().digest != config(on_error="stop").digest


def test_no_place_for_a_key():
    with pytest.raises(ValidationError):
        config(archive={"api_url": "http://x/api", "api_key": "secret"})


def test_a_model_survives_the_way_through_an_orchestrators_parameters():
    found = config(run={"timeout": 60})
    assert IndexDandisetsConfig.model_validate(found.model_dump(mode="json")) == found
