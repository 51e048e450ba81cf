from flows.prefect_settings import prepare


def test_a_run_of_its_own_is_patient_and_quiet():
    environment: dict[str, str] = {}
    prepare(environment)
    assert environment["PREFECT_SERVER_EPHEMERAL_STARTUP_TIMEOUT_SECONDS"] == "120"
    assert environment["PREFECT_LOGGING_TO_API_ENABLED"] == "false"
    assert environment["DO_NOT_TRACK"] == "1"
    assert environment["PREFECT_SERVER_SERVICES_SCHEDULER_ENABLED"] == "false"
    assert "PREFECT_SERVER_SERVICES_TASK_RUN_RECORDER_ENABLED" not in environment  # task runs stay visible
    assert environment["PREFECT_SERVER_SERVICES_TASK_RUN_RECORDER_BATCH_SIZE"] == "100"
    assert "PREFECT_HOME" not in environment


def test_a_served_api_gets_logs():
    environment = {"PREFECT_API_URL": "http://x/api"}
    prepare(environment)
    assert "PREFECT_LOGGING_TO_API_ENABLED" not in environment
    assert not any("SERVICES" in name for name in environment)
    assert environment["PREFECT_LOGGING_HANDLERS_CONSOLE_LEVEL"] == "CRITICAL"


def test_what_somebody_has_set_stays():
    environment = {"PREFECT_LOGGING_LEVEL": "DEBUG", "DO_NOT_TRACK": "0"}
    prepare(environment)
    assert (environment["PREFECT_LOGGING_LEVEL"], environment["DO_NOT_TRACK"]) == ("DEBUG", "0")
