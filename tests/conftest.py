"""What every test stands on."""

from __future__ import annotations

from hypothesis import HealthCheck, settings

# No test may fail because a machine is slow: time is what `make bench` measures.
settings.register_profile("default", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("default")
