"""Skill cards: what a skill is, who signed it, what it may do and what was found in it, for programs."""

from cortex_skills.features.artifacts.cards.skill_card import (
    CARD_FORMAT,
    card_of_artifact,
    card_of_folder,
    card_of_installed,
)

__all__ = ["CARD_FORMAT", "card_of_artifact", "card_of_folder", "card_of_installed"]
