"""What changes something and is no operation, with the reason; the page of the operations lists it."""

from __future__ import annotations

NOT_OPERATIONS: dict[str, str] = {
    "POST /api/v1/flush": "writes to the disk what the store holds already, and changes no statement",
    "POST /api/v1/memory/consolidate": "answers clients of Cortex that nothing has to be done, and does nothing",
    "POST /api/v1/skills/sandbox": "names a part of the namespace that ends with the server; no statement is written",
    "graph backup": "reads the store, and writes a folder that the owner names",
    "graph export": "reads the namespace, and writes a file that the owner names",
    "graph check": "reads the files of a store that need not open",
    "audit export": "reads the journal, and writes a file that the owner names",
    "audit merge": "reads journals of hosts, and writes a file that the owner names",
    "trust export": "reads the trust store, and writes a file that the owner names",
    "key rotate": "writes a statement that an old key signs to a file that the owner names; `trust.rotate` applies it",
    "init": "writes the files of a new skill",
    "package init": "writes the files of a new artifact",
    "package scaffold": "writes the files of a new artifact",
    "card": "writes the card of a skill to standard output or a file that the owner names",
    "test": "runs in stores of its own in memory, which end with it",
    "dev": "runs in a store of its own in memory unless one is named; what its calls change are operations",
}
