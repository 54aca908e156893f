"""The feature sets of a variant, by name."""

from hanamachi.engine.game import Variant
from hanamachi.policies.features.base import FEATURE_SETS
from hanamachi.policies.rules.hanabi_hat import FEWEST


def feature_names(variant: Variant) -> tuple[str, ...]:
    names = FEATURE_SETS[variant.game.name]
    return tuple(name for name in names if name != "hat" or variant.seats >= FEWEST)
