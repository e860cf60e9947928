"""How much and how long, in one place."""

from __future__ import annotations

FRAME_BYTES = 256 << 20  # of one message between two processes: one quad must fit
GREETING_BYTES = 1024  # of a message of somebody who has not shown the token yet
CHUNK_BYTES = 128 << 10  # of a stream, sent when the other side asks for it
MAX_PEERS = 256  # connections at once

FIND_S = 60.0  # until an owner is found that answers: it may have much to read after a kill, on a busy machine
FOREIGN_S = 5.0  # until a folder that is locked, with no owner of ours to be seen, is locked by somebody else
GREETING_S = 5.0  # until somebody who connects has shown the token, and the owner its knowledge of it
FRAME_S = 30.0  # from the first byte of a message to its last
PULSE_S = 1.0  # between two signs of life of an owner at work
SILENCE_S = 10.0  # without a sign of life, after which an owner counts as stopped
UPLOAD_S = 60.0  # that an owner waits for the next part of what a client uploads
GRACE_S = 2.0  # after an owner's death in which only those who held the maintenance lock get it
STREAM_DRAIN_S = 1.0  # that a closing owner leaves to those who read a stream
CLOSE_S = 10.0  # that it leaves to whatever was begun
PAUSE_S = (0.002, 0.03)  # between two attempts: from, to
