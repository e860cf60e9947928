"""Secrets of the owner, in the system's keyring or an encrypted file: read by what was granted them, never shown."""

from cortex_skills.secrets.hidden_values import HIDDEN, HiddenValues, without_secrets
from cortex_skills.secrets.secret_names import SecretName
from cortex_skills.secrets.secret_store import SecretStore

__all__ = ["HIDDEN", "HiddenValues", "SecretName", "SecretStore", "without_secrets"]
