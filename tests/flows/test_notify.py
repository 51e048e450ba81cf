"""Who is told how a run ended, by a real server on loopback and a real block of Prefect."""

import json
import signal
from types import SimpleNamespace

import pytest

from flows.commands import run_config
from flows.load_config import load_config
from flows.notify import Notifier
from flows.notify_section import NotifySection
from flows.stop_run import _clear_up
from flows.untold import UntoldFailures
from flows.watched_run import WatchedRun
from shadowzarr.catalog.index_run import index_dandisets, output_session
from shadowzarr.catalog.lock import output_lock
from shadowzarr.errors import UsageError

SECRET = "hooks-T0/B0/verysecret"
"""In the URL of the fixture `hook`."""


def notifier(**values) -> Notifier:
    return Notifier(NotifySection.model_validate(values), flow="index_dandisets", configuration="c.yaml")


def test_a_run_with_failures_is_told_once_with_what_failed(
    prefect_server, write_config, hook, tmp_path, capsys, monkeypatch
):
    from prefect.client.orchestration import get_client

    config = write_config(f"notify: {{webhook: '{hook.url}'}}")
    monkeypatch.setenv("PREFECT_API_URL", prefect_server)
    assert run_config(str(config), changes=["dandisets.0.include=[sub-0/*, bad/text.nwb]"]) == 1
    (body,) = hook.bodies
    assert body["text"].startswith("shadowzarr index_dandisets: 1 of 2 assets failed; ")
    assert (body["exit_code"], body["outcomes"]) == (1, {"failed": 1, "indexed": 1})
    assert (body["flow"], body["configuration"]) == ("index_dandisets", str(config))
    (failure,) = body["failures"]
    assert failure.startswith("failed  000001  bad/text.nwb  index: ")
    assert body["report"] == str(tmp_path / "out" / "report.html")
    printed = capsys.readouterr()
    with get_client(sync_client=True) as client:
        runs = [run.model_dump_json() for run in client.read_flow_runs()]
    written = [
        path.read_bytes().decode(errors="replace") for path in (tmp_path / "out").rglob("*") if path.is_file()
    ]
    for text in (printed.out, printed.err, *runs, *written):
        assert "verysecret" not in text


def test_what_is_impossible_is_told_too(write_config, hook, tmp_path, capsys, monkeypatch):
    monkeypatch.setenv("OPS_HOOK", hook.url)
    config = str(write_config("notify: {webhook_env: OPS_HOOK, on: failure}"))
    with output_lock(tmp_path / "out" / ".shadowzarr" / "lock"):
        assert run_config(config) == 1
    (body,) = hook.bodies
    assert "another run (process" in body["text"]
    assert body["exit_code"] == 1
    assert "verysecret" not in capsys.readouterr().err


@pytest.fixture
def killed(write_config, hook, tmp_path, monkeypatch):
    """Runs a configuration of a bad file whose failure a run recorded that was then killed."""
    monkeypatch.setenv("OPS_HOOK", hook.url)
    config = str(write_config("notify: {webhook_env: OPS_HOOK, on: failure}"))
    changes = ["dandisets.0.include=[bad/text.nwb]"]
    request = load_config(config, changes=changes).request
    with output_session(request):
        UntoldFailures(request.public, ["000001"])
        UntoldFailures(request.public, ["others"]).clear()  # a run about something else, that told
    index_dandisets(request)  # all but the end of the run that was killed
    assert (tmp_path / "out" / ".shadowzarr" / "untold").exists()
    return lambda: run_config(config, changes=changes)


def test_a_failure_of_a_run_that_was_killed_is_told_by_the_next_once(killed, hook, tmp_path):
    assert killed() == 3
    (body,) = hook.bodies
    assert body["exit_code"] == 3
    assert "in quarantine. Never told before: the failure of 1 asset. exit code 3: " in body["text"]
    (failure,) = body["failures"]
    assert failure.startswith("failed before  000001  bad/text.nwb  failed on ")
    assert not (tmp_path / "out" / ".shadowzarr" / "untold").exists()
    assert killed() == 3
    assert len(hook.bodies) == 1


def test_what_could_not_be_told_is_told_by_the_next_run(killed, hook, capsys):
    hook.status = 500
    assert killed() == 3
    assert "could not be notified: it answered 500" in capsys.readouterr().err
    hook.status = 200
    assert killed() == 3
    assert [len(body["failures"]) for body in hook.bodies] == [1, 1]
    assert killed() == 3
    assert len(hook.bodies) == 2


@pytest.mark.parametrize("content", ["{", "[]", '{"a": "yesterday"}', '{"a": "2026-01-02"}', '{"a": 3}'])
def test_a_mark_that_cannot_be_read_is_made_anew(write_config, content):
    layout = load_config(write_config()).request.public
    layout.workings.mkdir(parents=True)
    (layout.workings / "untold").write_text(content)
    mark = UntoldFailures(layout, ["a"])
    assert UntoldFailures(layout, ["b", "a"]).since["a"] == mark.since["a"] > "2026-01-03"
    mark.clear()
    assert list(json.loads((layout.workings / "untold").read_text())) == ["b"]
    UntoldFailures(layout, ["b"]).clear()
    assert not (layout.workings / "untold").exists()


@pytest.mark.parametrize(("on", "told"), [("failure", 0), ("always", 1)])
def test_a_run_with_nothing_to_do_is_told_when_always_is_asked_for(write_config, hook, monkeypatch, on, told):
    monkeypatch.setenv("OPS_HOOK", hook.url)
    config = str(write_config(f"notify: {{webhook_env: OPS_HOOK, on: {on}}}"))
    assert run_config(config, changes=["dandisets.0.include=zzz/*"]) == 0
    assert [body["exit_code"] for body in hook.bodies] == [0] * told


@pytest.mark.parametrize(
    ("status", "said"), [(500, "it answered 500"), (302, "it answered 302"), (404, "it answered 404")]
)
def test_who_cannot_be_told_is_said_once_and_fails_nothing(hook, capsys, status, said):
    hook.status = status
    teller = notifier(webhook=hook.url)
    teller.tell("It failed.")
    teller.tell("It failed again.")
    assert len(hook.bodies) == 1
    assert capsys.readouterr().err == f"warning: the webhook could not be notified: {said}\n"


def test_a_webhook_that_is_not_there(capsys, monkeypatch):
    notifier(webhook=f"http://127.0.0.1:1/{SECRET}").tell("It failed.")
    monkeypatch.setenv("OPS_HOOK", f"ftp://{SECRET}")
    notifier(webhook_env="OPS_HOOK").tell("It failed.")
    monkeypatch.delenv("OPS_HOOK")
    notifier(webhook_env="OPS_HOOK").tell("It failed.")
    notifier(block="slack-webhook/ops").tell("It failed.", has_prefect=False)
    assert capsys.readouterr().err.splitlines() == [
        "warning: the webhook could not be notified: it cannot be reached (Connection refused)",
        "warning: the webhook could not be notified: what OPS_HOOK holds is no http(s) URL",
        "warning: the webhook could not be notified: the variable OPS_HOOK that notify.webhook_env names is "
        "not set",
        "warning: the block slack-webhook/ops could not be notified: Prefect is not there",
    ]


def test_a_run_that_breaks_off_or_is_stopped_is_told(hook):
    teller = notifier(webhook=hook.url)
    with pytest.raises(KeyError), teller.watching():
        raise KeyError(f"http://{SECRET}")
    with pytest.raises(UsageError), notifier(webhook=hook.url).watching():
        raise UsageError("no dandiset")
    assert [body["text"].partition(": ")[2] for body in hook.bodies] == ["crashed (KeyError)", "no dandiset"]


@pytest.mark.parametrize(("by_hand", "told"), [(True, 0), (False, 1)])
def test_a_stop_by_a_signal_is_told_but_not_to_who_pressed_the_key(hook, by_hand, told):
    _clear_up(
        WatchedRun(notifier=notifier(webhook=hook.url)),
        f"stopped by {signal.Signals.SIGTERM.name}",
        by_hand=by_hand,
    )
    assert [body["text"] for body in hook.bodies] == [
        "shadowzarr index_dandisets: stopped by SIGTERM."
    ] * told


def test_a_block_of_prefect(prefect_server, hook, capsys):
    from prefect.blocks.notifications import CustomWebhookNotificationBlock
    from prefect.blocks.system import Secret

    CustomWebhookNotificationBlock(
        name="ops", url=hook.url, json_data={"subject": "{{subject}}", "body": "{{body}}"}
    ).save("ops", overwrite=True)
    Secret(value="x").save("no-notification", overwrite=True)
    notifier(block="custom-webhook/ops").tell("It failed.")
    assert hook.bodies == [{"subject": "shadowzarr index_dandisets", "body": "It failed."}]
    notifier(block="secret/no-notification").tell("It failed.")
    notifier(block="custom-webhook/zzz").tell("It failed.")
    assert capsys.readouterr().err.splitlines() == [
        "warning: the block secret/no-notification could not be notified: it is no notification block",
        "warning: the block custom-webhook/zzz could not be notified: there is no such block",
    ]


def test_a_runner_tells_of_a_crash_from_what_it_knows(hook, monkeypatch, capsys):
    from flows.crash_hook import RUNNING, tell_crashed

    monkeypatch.setenv("OPS_HOOK", hook.url)
    flow, state = SimpleNamespace(name="index-dandisets"), SimpleNamespace(message="killed")

    def flow_run(number, notify):
        return SimpleNamespace(id=number, name="a-run", parameters={"config": {"notify": notify}})

    tell_crashed(flow, flow_run(1, {"webhook_env": "OPS_HOOK"}), state)
    tell_crashed(flow, flow_run(2, None), state)
    tell_crashed(flow, flow_run(3, {"webhook": "**********"}), state)
    RUNNING["4"] = told = notifier(webhook=hook.url)
    told.tell("It failed.")
    tell_crashed(flow, flow_run(4, {"webhook_env": "OPS_HOOK"}), state)
    assert [body["text"].partition(": ")[2] for body in hook.bodies] == [
        "the flow run a-run crashed: killed",
        "It failed.",
    ]
    assert "nobody could be notified" in capsys.readouterr().err


def test_a_runner_tells_of_a_crash_by_the_file_that_a_deployment_names(hook, write_config, capsys):
    from flows.crash_hook import tell_crashed

    flow, state = SimpleNamespace(name="index-dandisets"), SimpleNamespace(message="killed")
    file = str(write_config(f"notify: {{webhook: '{hook.url}'}}\n"))
    for path in (file, "gone.yaml"):
        tell_crashed(flow, SimpleNamespace(id=path, name="a-run", parameters={"config": path}), state)
    (body,) = hook.bodies
    assert (body["configuration"], body["text"].rpartition(": ")[2]) == (file, "killed")
    assert "nobody could be notified: gone.yaml: there is no such file" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("section", "expected"),
    [
        ("{}", "expected webhook_env, webhook or block"),
        (
            f"{{webhook_env: 'https://{SECRET}'}}",
            "notify.webhook_env: found a value (not shown), expected text",
        ),
        (f"{{block: 'https://{SECRET}'}}", "notify.block: found a value (not shown), expected text"),
        (f"{{webhook: 'ftp://{SECRET}'}}", "expected webhook to be an http(s) URL"),
        (f"{{webhook: 'https://{SECRET}', webhook_env: A}}", "expected webhook_env or webhook, not both"),
        ("{webhook_env: A, on: never}", "expected 'failure' or 'always'"),
    ],
)
def test_a_wrong_section_is_refused_without_showing_it(tmp_path, section, expected):
    path = tmp_path / "c.yaml"
    path.write_text(f"flow: index_dandisets\ndandisets: ['000001']\noutput: out\nnotify: {section}\n")
    with pytest.raises(UsageError) as raised:
        load_config(path)
    assert expected in str(raised.value)
    assert "verysecret" not in str(raised.value)
