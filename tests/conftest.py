"""What every test stands on."""

from __future__ import annotations

import os

from hypothesis import HealthCheck, settings

# No test may fail because a machine is slow: time is what `make bench` measures.
settings.register_profile("default", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("default")

# The skills of the tests are signed by nobody; those of tests/signatures say that they have to be.
os.environ.setdefault("CORTEX_VERIFICATION__REQUIRE_SIGNATURE", "false")
