"""Texts of SKILL.md for the tests."""

import textwrap

import pytest

WHOLE = """\
---
name: verify-kyc
description: Checks whether a person is verified.
type: semantic
semantic:
  version: 1
  permissions:
    graph: [read, write]
    proofs: [request, verify, publish]
    memory: [recall, remember]
  assertions:
    - {predicate: isVerified, requireProof: true}
  queries:
    - {predicate: hasStatus, scope: namespace}
    - {predicate: hasName}
  allowedTools: [skill_graph_query, skill_assert, hub_search]
  maxQueries: 100
  skillVersion: "1.0.0"
  dependencies:
    - {slug: verify-kyc-base, version: "^1.0.0"}
---
# Verify

Ask for the status.
"""


@pytest.fixture
def whole():
    return WHOLE


@pytest.fixture
def semantic():
    """Makes a SKILL.md out of the lines of its semantic block."""

    def build(block):
        head = "---\nname: a\ndescription: b\ntype: semantic\nsemantic:\n"
        return head + textwrap.indent(textwrap.dedent(block).strip("\n"), "  ") + "\n---\n"

    return build


@pytest.fixture
def skill(tmp_path):
    """Writes a skill's folder."""

    def write(files, name="a"):
        folder = tmp_path / name
        folder.mkdir()
        for file, content in files.items():
            data = content if isinstance(content, bytes) else content.encode()
            (folder / file).write_bytes(data)
        return folder

    return write
