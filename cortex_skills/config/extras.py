"""Packages that only a part of the product needs: the extras of the distribution.

Rules kept here:
- what needs an extra checks for it before it begins, and the error names it: nothing is half-done, and nothing that was
  not checked counts as refuted;
- the rest works without.
"""

from __future__ import annotations

from importlib.util import find_spec

from cortex_skills.errors import CortexError

EXTRAS = {
    "artifacts": ("cyclonedx", "univers"),
    "credentials": ("pyld",),
    "embeddings": ("numpy", "safetensors", "tokenizers", "wordllama"),
    "fastembed": ("fastembed", "numpy"),
    "keyring": ("keyring",),
    "metrics": ("prometheus_client",),
    "model-signing": ("model_signing",),
    "shacl": ("pyshacl", "rdflib"),
    "vectors": ("numpy",),
}


def check_extra(name: str, purpose: str) -> None:
    """Raise an error unless the packages of an extra are installed.

    Args:
        name: of the extra.
        purpose: what needs it, as the subject of a sentence: `evaluating SHACL shapes`.

    Raises:
        CortexError: `config_invalid`.
    """
    missing = [module for module in EXTRAS[name] if find_spec(module) is None]
    if missing:
        raise CortexError(
            "config_invalid",
            f"{purpose} needs the extra {name}: {', '.join(missing)} is not installed",
            hint=f"pip install 'cortex-skills[{name}]'",
        )
