"""`doctor`."""

SUBJECTS = ["python", "packages", "sandbox", "bundler", "code cache", "configuration", "store", "node.js"]


def test_a_sound_installation_is_ok_line_by_line(run, store):
    answer = run("doctor")
    assert (answer.exit_code, answer.stderr) == (0, "")
    lines = answer.stdout.splitlines()
    assert [line.partition(":")[0] for line in lines] == [f"ok    {subject}" for subject in SUBJECTS]
    assert f"ok    store: {store} can be opened and holds 0 namespaces" in lines


def test_json_holds_every_verdict(run):
    report = run("doctor", "--json").json
    assert report["ok"] is True
    assert [check["subject"] for check in report["checks"]] == SUBJECTS
    assert {check["status"] for check in report["checks"]} == {"ok"}


def test_a_store_that_is_none_fails_with_a_hint_and_the_other_checks_are_made(run, tmp_path):
    (tmp_path / "notes.txt").write_text("not a store")
    answer = run("doctor", "--store", tmp_path)
    assert answer.exit_code == 2
    assert f"fail  store: the folder {tmp_path} is no store and holds other files: notes.txt" in answer.stdout
    assert "        hint: give an empty or a new folder" in answer.stdout
    assert "ok    node.js" in answer.stdout


def test_a_bad_configuration_fails_and_the_store_is_not_checked(run, tmp_path):
    path = tmp_path / "cortex.yaml"
    path.write_text("stoer: x\n")
    report = run("doctor", "--config", path, "--json")
    assert report.exit_code == 2
    checks = {check["subject"]: check for check in report.json["checks"]}
    assert checks["configuration"]["status"] == "fail"
    assert "did you mean store?" in checks["configuration"]["message"]
    assert checks["store"]["status"] == "warn"


def test_a_warning_of_the_configuration_does_not_fail(run):
    answer = run("doctor", env={"CORTEX_SKILL_SANDBOX__MAX_CALLS_PER_MINUTE": "100000"})
    assert answer.exit_code == 0
    assert "warn  configuration: CORTEX_SKILL_SANDBOX__MAX_CALLS_PER_MINUTE" in answer.stdout


def test_a_code_cache_that_others_may_write_to_is_a_warning(run, tmp_path):
    folder = tmp_path / "shared"
    folder.mkdir()
    folder.chmod(0o777)
    answer = run("doctor", env={"CORTEX_SANDBOX_CACHE": str(folder)})
    assert answer.exit_code == 0
    assert "warn  code cache: not used" in answer.stdout
    assert "CORTEX_SANDBOX_CACHE" in answer.stdout


def test_the_variable_of_the_code_cache_is_no_unknown_setting(run, tmp_path):
    folder = tmp_path / "own"
    answer = run("doctor", env={"CORTEX_SANDBOX_CACHE": str(folder)})
    assert f"ok    code cache: {folder} is private and writable" in answer.stdout
    assert "ok    configuration" in answer.stdout


def test_without_node_nothing_fails(run, tmp_path):
    answer = run("doctor", env={"PATH": str(tmp_path)})
    assert answer.exit_code == 0
    assert "ok    node.js: not there" in answer.stdout
