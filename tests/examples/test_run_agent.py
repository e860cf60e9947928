"""The example of learning as a script: what it prints is what its page shows, and the skill is verified."""

import os
import re
import subprocess
import sys
from pathlib import Path

from cortex_graph import open_store
from cortex_graph.naming.names import Names
from cortex_skills.features.registry.records.registry import SkillRegistry
from cortex_skills.features.registry.records.skill_record import SkillKey


def test_the_skill_rises_from_candidate_to_verified_as_its_page_shows(examples: Path, tmp_path: Path) -> None:
    kept = {name: value for name, value in os.environ.items() if not name.startswith("CORTEX_")}
    command = [sys.executable, str(examples / "learning" / "run_agent.py"), "--store", "store"]
    done = subprocess.run(command, cwd=tmp_path, env=kept, capture_output=True, text=True, timeout=100)
    assert done.returncode == 0, done.stderr
    page = (examples / "learning" / "README.md").read_text(encoding="utf-8")
    [shown] = re.findall(r"^```text\n(.*?)^```", page, re.MULTILINE | re.DOTALL)
    assert done.stdout.startswith(shown)
    store = open_store(str(tmp_path / "store"))
    registry = SkillRegistry(store, Names("mayros"), lambda: None)
    record = registry.record(SkillKey("mayros", "report-missing-stock"))
    assert (record.standing.origin, record.standing.lifecycle, record.quality.invocations) == ("learned", "verified", 3)
    kinds = [event.kind for event in registry.log.events()]
    assert (kinds.count("skill.used"), kinds[-1]) == (3, "skill.promoted")
    assert registry.verify_events() is None
    store.close()
