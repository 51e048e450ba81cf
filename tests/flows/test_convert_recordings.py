"""The flow convert_recordings under a Prefect server, its plan, its messages, and how it is stopped short."""

import importlib.util
import json
import re
import shutil

import pytest

if importlib.util.find_spec("neuroconv") is None:
    pytest.skip("the extra neuroconv is not installed", allow_module_level=True)

from flows.__main__ import main
from flows.load_config import load_config
from shadowzarr.errors import ConfigError
from shadowzarr.testing.sample_recordings import METADATA, write_tiff_stack

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::ResourceWarning")

INTERFACE = (
    "{x: {interface: TiffImagingInterface, source_data: {file_paths: [%s], sampling_frequency: 30.0}}}"
)


@pytest.fixture
def config(tmp_path):
    write_tiff_stack(tmp_path / "stack.tif", frames=150)
    (tmp_path / "metadata.yaml").write_text(METADATA)
    path = tmp_path / "convert.yaml"
    path.write_text(
        f"flow: convert_recordings\nmetadata: {tmp_path}/metadata.yaml\noutput: {tmp_path}/out\nrecordings:\n"
        f"  - name: sub-1/good\n    interfaces: {INTERFACE % (tmp_path / 'stack.tif')}\n"
        f"  - name: sub-1/gone\n    interfaces: {INTERFACE % (tmp_path / 'gone.tif')}\n"
        "verification: {mode: full}\nrun: {concurrency: 1, retries: 0, timeout: 300}\n"
    )
    return path


def test_a_run_publishes_what_is_right_and_names_what_failed(
    prefect_server, config, tmp_path, capsys, monkeypatch
):
    assert main(["plan", str(config)]) == 0
    planned = capsys.readouterr().out
    assert "sub-1/good.nwb" in planned
    assert "2 recordings would be converted into" in planned
    assert not (tmp_path / "out").exists()
    assert main(["run", str(config), "--json-lines"]) == 1
    events = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    ended = {each["path"]: each for each in events if each["event"] == "asset"}
    assert ended["sub-1/good.nwb"]["outcome"] == "indexed"
    assert ended["sub-1/gone.nwb"]["error"]["stage"] == "headers"
    assert "gone.tif is not there" in ended["sub-1/gone.nwb"]["error"]["message"]
    assert events[-1]["exit_code"] == 1
    report = (tmp_path / "out" / "report.html").read_text()
    assert "1 of 2 recordings failed; the other one was converted and verified." in report
    code = re.compile(r'<(style|script)>.*?</\1>|(id|labelledby)="assets"', re.DOTALL)
    assert "asset" not in code.sub("", report)
    assert len(list((tmp_path / "out").rglob("*.nwb.shadowzarr"))) == 1
    with monkeypatch.context() as patch:  # what is done is not done again, and starts no Prefect
        patch.setattr("flows.under_prefect.under_prefect", None)
        assert main(["run", str(config), "--set", "recordings.1.interfaces={}"]) == 1
        only = tmp_path / "only.yaml"
        text = config.read_text()
        only.write_text(text[: text.index("  - name: sub-1/gone")] + text[text.index("verification:") :])
        assert main(["run", str(only)]) == 0
    assert "unchanged" in capsys.readouterr().out
    shutil.rmtree(tmp_path / "out")


def test_what_cannot_be_asked_for_is_refused_with_its_place(config, tmp_path, capsys):
    place = "recordings.0.interfaces.x"
    for change, message in (
        (f"{place}.interface=TifImagingInterface", "no interface 'TifImagingInterface'; did you mean TiffIm"),
        (f"{place}.source_dat=3", "unknown key; did you mean source_data"),
        ("recordings.1.name=SUB-1/Good", "one recording of the name"),
        ("recordings.0.name=../out", "expected a path for the output: it has an empty part, . or .."),
        ("recordings.0.name=a.nwb", "without .nwb"),
        ("recordings.0.name=a.nwb.ZARR/b", "without .nwb and .nwb.zarr"),
        ("recordings=[]", "at least one entry"),
        (f"materialize={{form: nwb-zarr, folder: {tmp_path}/out/stores}}", "outside of output"),
        ("materialize={form: hdf5, folder: x}", "expected 'nwb-zarr' or 'nwb-hdf5'"),
        ("url_for={/data: ftp://host}", "found 'ftp://host', expected an http"),
        ("url_for={/data: 'https://me:hidden@host/x?sig=hidden'}", "found 'https://host/x', expected"),
        ("url_for={/data: 'http://a', /data/: 'http://b'}", "each folder of url_for once"),
        ("recordings.0.name=a.nwb/b", "without .nwb"),
        (f"{place}.source_data={{file_path: 'https://me:hidden@host/x?sig=hidden'}}", "not a URL"),
        (
            f"{place}.source_data={{file_path: x, at: 's3://b/x?X-Amz-Signature=hidden'}}",
            "without a signature",
        ),
        (f"{place}.conversion_options={{names: {{3: a}}}}", "sections with text as keys"),
        (f"{place}.source_data={{folder_path: '{tmp_path}'}}", "output to be outside of the recording in"),
        ("materialize={form: nwb-zarr, folder: 's3://bucket/x'}", "folder of this machine"),
        ("validation.critical=ignore", "'refuse', 'tell' or 'off'"),
        ("run.task_runner=dask", "task_runner to be threads"),
    ):
        with pytest.raises(ConfigError, match=re.escape(message)) as refused:
            load_config(config, changes=[change])
        assert "hidden" not in str(refused.value)
    assert main(["run", str(config), "--set", "output=/proc/nowhere"]) == 1
    assert "cannot write to the output" in capsys.readouterr().err


def test_names_that_are_one_on_some_disks_are_refused(config):
    config.write_text(config.read_text().replace("sub-1/good", "e\u0301").replace("sub-1/gone", "\u00c9"))
    with pytest.raises(ConfigError, match="one recording of the name 'e\u0301'; give each"):
        load_config(config)
