"""The flow backfill under a Prefect server, and its plan."""

import pytest

from flows.__main__ import main
from flows.load_config import load_config
from shadowzarr.errors import ConfigError

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::ResourceWarning")


@pytest.fixture
def config(write_config):
    path = write_config("budget: {bytes: 1}\n")
    text = path.read_text().replace("flow: index_dandisets", "flow: backfill")
    path.write_text(text.replace("- id: '000001'", "- id: '000001'\n    include: 'sub-[12]/*'"))
    return path


def test_a_run_keeps_to_its_budget_and_the_next_goes_on(prefect_server, config, tmp_path, capsys):
    assert main(["plan", str(config)]) == 0
    assert "1 asset would be indexed" in capsys.readouterr().out
    for done, left in ((1, True), (2, False)):
        assert main(["run", str(config)]) == 0
        assert len(list((tmp_path / "out").rglob("*.record.json"))) == done
        assert ("left for another run" in capsys.readouterr().out) == left


def test_a_budget_of_nothing_is_refused(config, tmp_path):
    text = config.read_text()
    for wrong, message in (
        ("{}", "bytes or seconds"),
        ("{bytes: 0}", "found 0"),
        ("{days: 3}", "unknown key"),
    ):
        config.write_text(text.replace("{bytes: 1}", wrong))
        with pytest.raises(ConfigError, match=message):
            load_config(config)
    config.write_text(text.replace("budget: {bytes: 1}\n", ""))
    with pytest.raises(ConfigError, match="budget: missing"):
        load_config(config)
