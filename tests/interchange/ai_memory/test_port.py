"""The port of ai-memory's reader against what its own parser, compiled, returned."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.interchange.ai_memory import original
from tests.interchange.ai_memory.vectors import READ, REFUSED, Vector


@pytest.mark.parametrize("vector", READ, ids=str)
def test_the_port_reads_a_text_as_the_original(vector: Vector) -> None:
    skill = original.read(vector.text, vector.resources)
    assert {name: getattr(skill, name) for name in vector.fields} == vector.fields
    assert skill.digest == vector.digest


def test_the_port_refuses_what_the_original_refuses() -> None:
    for vector in REFUSED:
        with pytest.raises(original.RefusedError):
            original.read(vector.text)


def test_the_port_reads_what_it_writes(tmp_path: Path) -> None:
    for vector in READ:
        texts = (vector.fields["description"], vector.fields["compatibility"] or "")
        if not any(
            text.startswith(">") or set("\\\r\u2028") & set(text) for text in texts
        ):  # lost by the original, or by YAML 1.1
            original.write_folder(original.read(vector.text, vector.resources), tmp_path / str(vector))
            assert original.read_folder(tmp_path / str(vector)).digest == vector.digest
