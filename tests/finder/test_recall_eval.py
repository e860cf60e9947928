"""`eval/recall.py` reads conversations and measures how much of the evidence is recalled."""

from __future__ import annotations

import json

from cortex_skills.features.finder.static_vectors import StaticVectors
from eval.recall import conversations, shares, table

SAMPLE = {
    "sample_id": "small",
    "conversation": {
        "speaker_a": "Ida",
        "session_10_date_time": "9:05 am on 2 March, 2024",
        "session_10": [{"speaker": "Ida", "dia_id": "D10:1", "text": "The ferry was late again."}],
        "session_2_date_time": "11:30 pm on 28 February, 2024",
        "session_2": [
            {"speaker": "Ida", "dia_id": "D2:1", "text": "Did you find a name for the boat?"},
            {"speaker": "Per", "dia_id": "D2:2", "text": "Yes, Skua!", "blip_caption": "a red boat in a harbour"},
        ],
    },
    "qa": [
        {"question": "Which boat does Per have?", "evidence": ["D2:1; D2:2"]},
        {"question": "What was late?", "evidence": ["D10:1", "D7:3"]},
        {"question": "Who sings?", "evidence": ["D99:1"]},
    ],
}


def test_a_conversation_is_read_in_the_order_of_its_sessions(tmp_path):
    path = tmp_path / "small.json"
    path.write_text(json.dumps([SAMPLE]))
    (found,) = conversations(path)
    assert [(turn.id, turn.text, f"{turn.time:%d %H:%M:%S}") for turn in found.turns] == [
        ("D2:1", "Ida: Did you find a name for the boat?", "28 23:30:00"),
        ("D2:2", "Per: Yes, Skua! [shares a red boat in a harbour]", "28 23:30:20"),
        ("D10:1", "Ida: The ferry was late again.", "02 09:05:00"),
    ]
    assert [question.evidence for question in found.questions] == [{"D2:1", "D2:2"}, {"D10:1"}]


def test_the_share_of_the_evidence_is_measured(tmp_path):
    path = tmp_path / "small.json"
    path.write_text(json.dumps(SAMPLE["conversation"] | {"qa": SAMPLE["qa"]}))
    (found,) = conversations(path)
    assert shares(found, None) == [[1.0, 1.0, 1.0], [1.0, 1.0, 1.0]]
    assert shares(found, StaticVectors()) == [[1.0, 1.0, 1.0], [1.0, 1.0, 1.0]]
    assert list(table([found]))[-2:] == [
        "| all | 3 | 2 | words | 1.000 | 1.000 | 1.000 |",
        "| all | 3 | 2 | words and meaning | 1.000 | 1.000 | 1.000 |",
    ]
