"""The five operator skills of MetaHuman OS, rebuilt by the rules of its interface, in our words."""

from __future__ import annotations

from typing import Any

FS_READ: dict[str, Any] = {
    "id": "fs_read",
    "name": "Read a file",
    "description": "The text of one file below the project.",
    "category": "fs",
    "inputs": {"path": {"type": "string", "required": True, "description": "Below the project."}},
    "outputs": {
        "content": {"type": "string", "description": "The text."},
        "size": {"type": "number", "description": "Bytes."},
        "modified": {"type": "string", "description": "The time of the last change."},
    },
    "risk": "low",
    "cost": "cheap",
    "minTrustLevel": "observe",
    "requiresApproval": False,
    "allowedDirectories": ["."],
}
FS_WRITE: dict[str, Any] = {
    "id": "fs_write",
    "name": "Write a file",
    "description": "Puts a text into a file below a few folders.",
    "category": "fs",
    "inputs": {
        "path": {"type": "string", "required": True, "description": "Below the project."},
        "content": {"type": "string", "required": True, "description": "The text."},
        "overwrite": {"type": "boolean", "required": False, "description": "Off unless given."},
    },
    "outputs": {
        "path": {"type": "string", "description": "Which file."},
        "size": {"type": "number", "description": "Bytes."},
    },
    "risk": "high",
    "cost": "cheap",
    "minTrustLevel": "supervised_auto",
    "requiresApproval": True,
    "allowedDirectories": ["out/", "logs/"],
}
SEARCH_INDEX: dict[str, Any] = {
    "id": "search_index",
    "name": "Search memories",
    "description": "Memories that mean something similar.",
    "category": "memory",
    "inputs": {
        "query": {"type": "string", "required": True, "description": "What to look for."},
        "limit": {"type": "number", "required": False, "description": "How many."},
        "minSimilarity": {"type": "number", "required": False, "description": "From 0 to 1."},
    },
    "outputs": {
        "results": {"type": "array", "description": "The memories."},
        "count": {"type": "number", "description": "How many they are."},
    },
    "risk": "low",
    "cost": "expensive",
    "minTrustLevel": "observe",
    "requiresApproval": False,
}
RUN_AGENT: dict[str, Any] = {
    "id": "run_agent",
    "name": "Start an agent",
    "description": "Starts another agent by its name.",
    "category": "agent",
    "inputs": {
        "agentName": {"type": "string", "required": True, "description": "Which one."},
        "wait": {"type": "boolean", "required": False, "description": "Until it ends."},
    },
    "outputs": {
        "pid": {"type": "number", "description": "Of its process."},
        "exitCode": {"type": "number", "description": "After waiting."},
    },
    "risk": "medium",
    "cost": "expensive",
    "minTrustLevel": "supervised_auto",
    "requiresApproval": True,
}
SHELL_SAFE: dict[str, Any] = {
    "id": "shell_safe",
    "name": "Run a command",
    "description": "One command of a short list.",
    "category": "shell",
    "inputs": {
        "command": {"type": "string", "required": True, "description": "Which one."},
        "args": {"type": "array", "required": False, "description": "Its arguments."},
        "cwd": {"type": "string", "required": False, "description": "Where."},
    },
    "outputs": {
        "stdout": {"type": "string", "description": "What it wrote."},
        "stderr": {"type": "string", "description": "What it complained."},
        "exitCode": {"type": "number", "description": "How it ended."},
    },
    "risk": "high",
    "cost": "expensive",
    "minTrustLevel": "bounded_auto",
    "requiresApproval": True,
    "commandWhitelist": ["ls", "cat", "grep", "find", "git", "pnpm"],
}
ORIGINALS = (FS_READ, FS_WRITE, SEARCH_INDEX, RUN_AGENT, SHELL_SAFE)
