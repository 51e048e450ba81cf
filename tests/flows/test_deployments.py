"""The deployments of ``configs/prefect.yaml`` at a served API, run by Prefect's own worker."""

import importlib.util
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from archive_trees import tree
from ruamel.yaml import YAML

from flows.given_config import given_config
from flows.index_config import IndexDandisetsConfig
from flows.load_config import load_config
from flows.models import FLOWS
from shadowzarr.catalog.index_run import index_dandisets as index_without_prefect
from shadowzarr.errors import ConfigError
from shadowzarr.testing.sample_recordings import METADATA, write_tiff_stack

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::ResourceWarning")

ROOT = Path(__file__).resolve().parents[2]
FILE = ROOT / "configs" / "prefect.yaml"
POOL = "shadowzarr"


@pytest.fixture
def prefect(prefect_server, tmp_path):
    """Runs Prefect's command line in the folder of the repository."""

    def prefect(*arguments: str) -> str:
        done = subprocess.run(
            [sys.executable, "-m", "prefect", "--no-prompt", *arguments],
            cwd=ROOT,
            env={**os.environ, "PREFECT_API_URL": prefect_server, "COLUMNS": "200"},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        assert done.returncode == 0, done.stdout
        return done.stdout

    return prefect


def deployments() -> dict[str, dict]:
    """The deployments of the file, by the names that Prefect shows."""
    found = YAML(typ="safe").load(FILE.read_text())["deployments"]
    flow = {each["entrypoint"]: each["entrypoint"].rpartition(".")[2].replace("_", "-") for each in found}
    return {f"{flow[each['entrypoint']]}/{each['name']}": each for each in found}


def test_every_flow_is_deployed_and_no_run_doubled():
    found = deployments()
    assert {name.partition("/")[0].replace("-", "_") for name in found} >= set(FLOWS)
    for name, deployment in found.items():
        assert deployment["work_pool"]["name"] == POOL
        assert deployment["description"]
        config = deployment.get("parameters", {}).get("config")
        if config is not None:
            flow = name.partition("/")[0].replace("-", "_")
            assert f"flow: {flow}\n" in (ROOT / config).read_text()
            assert deployment["concurrency_limit"] == {"limit": 1, "collision_strategy": "CANCEL_NEW"}


def test_each_deployment_runs_on_a_worker(prefect_server, prefect, write_config, archive, tmp_path):
    make_pool()
    prefect("deploy", "--all", "--prefect-file", str(FILE))
    only_good = ["dandisets.0.exclude=bad/*", "run.concurrency=1"]
    index_without_prefect(load_config(write_config(), changes=only_good).request)
    configs = write_configs(write_config, archive.api_url, tmp_path)
    wanted = {
        "index-dandisets/nightly": {"config": configs["index_dandisets"], "changes": only_good},
        "backfill/hourly": {"config": configs["backfill"]},
        "verify-outputs/weekly": {"config": configs["verify_outputs"]},
        "refresh-icechunk/nightly": {"config": configs["refresh_icechunk"]},
        "materialize-assets/nightly": {"config": configs["materialize_assets"]},
        "watch-deployments/hourly": {"config": configs["watch_deployments"]},
    }
    converts = importlib.util.find_spec("neuroconv") is not None
    if converts:
        wanted["convert-recordings/nightly"] = {"config": configs["convert_recordings"]}
    run_on_worker(prefect, wanted)
    assert tree(tmp_path / "nightly") == tree(tmp_path / "out", but="verification.json")
    assert len(list((tmp_path / "backfilled").rglob("*.record.json"))) == 2
    assert json.loads((tmp_path / "out" / "verification.json").read_text())["counts"] == {"equal": 7}
    assert (tmp_path / "icechunk" / "000001").is_dir()
    assert json.loads((tmp_path / "zarr" / "materialized.json").read_text())["counts"]["materialized"] == 2
    assert len(list((tmp_path / "nwb").rglob("*.nwb.shadowzarr"))) == converts


def make_pool() -> None:
    from prefect.client.orchestration import get_client
    from prefect.client.schemas.actions import WorkPoolCreate

    with get_client(sync_client=True) as client:
        client.create_work_pool(WorkPoolCreate(name=POOL, type="process"), overwrite=True)


def write_configs(write_config, api_url: str, folder: Path) -> dict[str, Path]:
    """A configuration for each flow."""
    configs = {"index_dandisets": write_config(name="nightly.yaml", output=f"{folder}/nightly")}
    common = f"archive: {api_url}\n"
    texts = {
        "backfill": f"{common}dandisets: [{{id: '000001', include: ['sub-[12]/*']}}]\n"
        f"output: {folder}/backfilled\nbudget: {{bytes: 1000000}}\nrun: {{concurrency: 1}}\n",
        "verify_outputs": f"{common}output: {folder}/out\nrun: {{concurrency: 1}}\n",
        "refresh_icechunk": f"{common}output: {folder}/out\n"
        f"icechunk: {{repository: {folder}/icechunk, versions: none}}\n",
        "materialize_assets": f"{common}references: {folder}/out\ndestination: {folder}/zarr\n"
        "include: ['sub-[12]/*']\nrun: {concurrency: 1}\n",
        "convert_recordings": convert_text(folder),
        "watch_deployments": f"outputs: [{{folder: {folder}/out, within_hours: 1}}]\n",
    }
    for flow, text in texts.items():
        configs[flow] = folder / f"{flow}.yaml"
        configs[flow].write_text(f"flow: {flow}\n{text}")
    return configs


def convert_text(folder: Path) -> str:
    """Of a configuration that converts a small recording."""
    write_tiff_stack(folder / "stack.tif", frames=150)
    (folder / "metadata.yaml").write_text(METADATA)
    source = f"{{file_paths: [{folder}/stack.tif], sampling_frequency: 30.0}}"
    interface = f"{{interface: TiffImagingInterface, source_data: {source}}}"
    return (
        f"metadata: {folder}/metadata.yaml\noutput: {folder}/nwb\nrun: {{concurrency: 1, timeout: 300}}\n"
        f"recordings: [{{name: a, interfaces: {{x: {interface}}}}}]\n"
    )


def run_on_worker(prefect, wanted: dict[str, dict]) -> None:
    """Ask for a run of each deployment, have one worker take them all, and see that each completed."""
    from prefect.client.orchestration import get_client

    with get_client(sync_client=True) as client:
        ids = {}
        for name, parameters in wanted.items():
            deployment = client.read_deployment_by_name(name)
            parameters = parameters | {"config": str(parameters["config"])}
            ids[name] = client.create_flow_run_from_deployment(deployment.id, parameters=parameters).id
        printed = prefect("worker", "start", "--pool", POOL, "--type", "process", "--run-once")
        states = {name: client.read_flow_run(run_id).state for name, run_id in ids.items()}
    assert {name: state.type.value for name, state in states.items()} == dict.fromkeys(wanted, "COMPLETED"), (
        printed
    )


@pytest.mark.parametrize(
    ("flow", "changes", "message"),
    [
        ("backfill", ["budget.seconds=5"], "flow: found 'backfill', and this is a run of index_dandisets"),
        ("index_dandisets", ["nothing=1"], "command line, --set nothing"),
    ],
)
def test_a_file_for_another_flow_is_refused(write_config, flow, changes, message):
    path = write_config()
    path.write_text(path.read_text().replace("index_dandisets", flow))
    with pytest.raises(ConfigError, match=message):
        given_config(str(path), changes, IndexDandisetsConfig)


def test_a_configuration_itself_takes_no_changes(write_config):
    config = load_config(write_config())
    assert given_config(config, None, IndexDandisetsConfig) is config
    with pytest.raises(ConfigError, match="changes are for the file"):
        given_config(config, ["on_error=stop"], IndexDandisetsConfig)
