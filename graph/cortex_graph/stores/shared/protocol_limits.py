"""Sizes and times of the protocol between processes."""

from __future__ import annotations

FRAME_BYTES = 256 << 20  # of one message between two processes; one quad must fit
GREETING_BYTES = 1024  # of a message before authentication
CHUNK_BYTES = 128 << 10  # of a part of a stream
MAX_PEERS = 256  # connections at once

FIND_S = 60.0  # for a process to open the store and become its owner; after a kill it may have to read much
FOREIGN_S = 5.0  # after which a locked folder without an owner is locked by another program
GREETING_S = 5.0  # for the authentication of both sides
FRAME_S = 30.0  # from the first byte of a message to the last
PULSE_S = 1.0  # between two keepalives of an owner that processes a request
NOTICE_S = 2.0  # without a keepalive, after which a client reports that it waits
SILENCE_S = 10.0  # without a keepalive, after which an owner counts as stopped
UPLOAD_S = 60.0  # to wait for the next part of an upload
GRACE_S = 2.0  # after the end of an owner, for the holder of the maintenance lock to reclaim it
STREAM_DRAIN_S = 1.0  # for the readers of streams when the owner closes
CLOSE_S = 10.0  # for all requests when the owner closes
PAUSE_S = (0.002, 0.03)  # between two attempts: minimum, maximum
