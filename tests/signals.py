"""Programs that hear signals."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def heard(*numbers: signal.Signals) -> Iterator[None]:
    """What is started meanwhile hears these, also where the tests themselves run under nohup or in the background."""
    deaf = [number for number in numbers if signal.getsignal(number) is signal.SIG_IGN]
    for number in deaf:
        signal.signal(number, signal.SIG_DFL)
    try:
        yield
    finally:
        for number in deaf:
            signal.signal(number, signal.SIG_IGN)
