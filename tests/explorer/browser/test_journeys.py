"""What people do in the explorer, in a real browser."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import expect

from tests.server.serving import Running

START = "/explore/mayros"
