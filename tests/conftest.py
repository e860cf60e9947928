"""Settings of all tests."""

from __future__ import annotations

import gc
import os
import sys
import tempfile
from collections.abc import Iterator

import pytest
from hypothesis import HealthCheck, settings

from tests.leftovers import pytest_runtest_protocol
from tests.property_examples import set_examples

__all__ = ["pytest_runtest_protocol"]

# Compiled modules are kept, also where PYTHONDONTWRITEBYTECODE is set: a process that compiles the product first takes
# twice as long to start, and the tests start hundreds.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
sys.dont_write_bytecode = False

# No test fails because the machine is slow: `make bench` measures time. Where CI is set, hypothesis uses the same
# examples in every run, so that a result depends on the change alone; elsewhere each run draws new examples.
UNHEALTHY = [HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.filter_too_much]
settings.register_profile("tests", settings.default, max_examples=50, deadline=None, suppress_health_check=UNHEALTHY)
settings.load_profile("tests")

# The default folder for keys, tokens and stores is a temporary one.
if "XDG_DATA_HOME" not in os.environ:
    _DATA = tempfile.TemporaryDirectory(prefix="cortex-tests-")
    os.environ["XDG_DATA_HOME"] = _DATA.name

# The skills of the tests are not signed; the tests in tests/signatures require signatures.
os.environ.setdefault("CORTEX_VERIFICATION__REQUIRE_SIGNATURE", "false")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Set the number of examples of each property once, also where it has parameters."""
    properties = [item.obj for item in items if isinstance(item, pytest.Function) and "hypothesis" in item.keywords]
    for function in {getattr(each, "__func__", each) for each in properties}:
        set_examples(function)


def pytest_collection_finish() -> None:
    """Exclude the imported modules and the collected tests from garbage collection, since they live until the end."""
    gc.collect()
    gc.freeze()


@pytest.fixture(scope="module")
def no_package_skills() -> Iterator[None]:
    """For tests about lists of other skills: registries without the skills of the package, which all others have."""
    from cortex_skills.features.registry.records.reading import PackageSkills

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("cortex_skills.features.registry.sources.package_skills", lambda _: PackageSkills())
        yield


@pytest.fixture(autouse=True)
def _secrets_of_the_test() -> Iterator[None]:
    """Values that a test hides are hidden until its end: a process hides them until its own."""
    name = "cortex_skills.secrets.hidden_values"
    hidden = getattr(sys.modules.get(name), "HIDDEN", None)
    before = (frozenset(), None) if hidden is None else (hidden._values, hidden._pattern)
    yield
    if (hidden := getattr(sys.modules.get(name), "HIDDEN", None)) is not None:
        hidden._values, hidden._pattern = before
