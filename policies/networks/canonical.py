"""Canonical forms: a network sees symmetric positions in one form.

The symmetries of a game's rules, such as geisha of equal charm exchanged, give every position
several forms. Each has a key: the weighted sum of its entries, with a small whole number for the
weight of each. A network that is canonical sees the form with the largest key, the first of these,
and its choice is translated back. So what it learns in one form it knows in all.

The keys are sums of whole numbers, so that they are exact in any order and precision.

Notation: B decisions, P forms, A actions, O entries of an observation, N of it with its features.
"""

from collections.abc import Sequence
from hashlib import shake_256
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from hanamachi.engine.arrays import Integers
from hanamachi.engine.compiled import kernel
from hanamachi.engine.game import Variant
from hanamachi.engine.layout import Layout
from hanamachi.errors import UserError
from hanamachi.policies.arrays import Masks, Observations, Probabilities

AS_SHOWN, CANONICAL = "none", "canonical"  # values of `network.symmetries`
FEATURE_SETS_ALLOWED = ("advice",)  # those that relabel as `relabelled_features` does


class Forms(NamedTuple):
    """The forms of the positions of a variant; the first is a position as it is."""

    keys: NDArray[np.float32]  # (O, P) the weights of the observation's entries in each key
    entries: Integers  # (P, N) a form shows `observation[entries[p]]`
    actions: Integers  # (P, A) and `mask[actions[p]]`


def forms_of(variant: Variant, layout: Layout, symmetries: str) -> Forms | None:
    """The forms of observations that, with their features, have this layout.

    None if the network sees each position as it is.
    """
    if symmetries == AS_SHOWN:
        return None
    entries, actions = variant.symmetries
    weights, keys = entry_weights(variant.observation), np.zeros(entries.T.shape, np.float32)
    np.put_along_axis(keys, entries.T, weights[:, None], axis=0)
    return Forms(keys, np.hstack([entries, relabelled_features(variant, layout)]), actions)


def entry_weights(layout: Layout) -> NDArray[np.float32]:
    """The weight of each entry in a key, (O,): a random byte.

    It is 0 for fractions, and for entries that depend on the order in which a hand lists its cards:
    that order differs between symmetric positions. Checkpoints depend on the bytes, so they never
    change. bfloat16 and TF32 hold them exactly.
    """
    weights = np.frombuffer(shake_256(b"canonical").digest(layout.size), np.uint8)
    counts = [not s.fraction and s.name not in layout.by_hand_order for s in layout.segments]
    return (weights * np.repeat(counts, [s.size for s in layout.segments])).astype(np.float32)


def relabelled_features(variant: Variant, layout: Layout) -> Integers:
    """The entries of the features under each symmetry, (P, N - O).

    Features of actions move along with their actions; the others stay.
    """
    actions, size = variant.symmetries.actions, variant.observation.size
    features = np.tile(np.arange(size, layout.size), (len(actions), 1))
    for kind, name in layout.blocks:
        place = layout.slice(name)
        if kind == "action" and place.start >= size:
            rows = np.arange(place.start, place.stop).reshape(variant.actions.size, -1)
            features[:, place.start - size : place.stop - size] = rows[actions].reshape(
                len(actions), -1
            )
    return features


def check_symmetries(variant: Variant, symmetries: str, feature_sets: Sequence[str]) -> None:
    """UserError if a network with these features cannot see positions in one form, as it should."""
    if symmetries == AS_SHOWN:
        return
    what = "network.symmetries: canonical"
    variant.needs("symmetries", what)
    if len(variant.symmetries.entries) == 1:
        raise UserError(f"{variant.id} with these options has no symmetries: remove {what}")
    for name in feature_sets:
        if name not in FEATURE_SETS_ALLOWED:
            raise UserError(
                f"the features {name} depend on how a position is shown: remove them from "
                f"network.features, or remove {what}"
            )


# --- In compiled loops


class Canonical(NamedTuple):
    """Decisions in their canonical forms, as arrays or tensors."""

    forms: Any  # (B,) the number of the form of each
    observations: Any  # (B, N)
    masks: Any  # (B, A) of the type of the masks given


def canonical(forms: Forms, observations: Observations, masks: Any) -> Canonical:
    """What a canonical network sees of these decisions."""
    numbers = np.empty(len(observations), np.int64)
    found = Canonical(numbers, np.empty_like(observations), np.empty_like(masks))
    write_canonical(forms, observations, masks, found)
    return found


def translated(forms: Forms, numbers: Integers, probabilities: Probabilities) -> Probabilities:
    """Probabilities of the actions that these forms show, given to the game's actions, (B, A)."""
    of_game = np.empty_like(probabilities)
    write_translated(forms, numbers, probabilities, of_game)
    return of_game


@kernel
def write_canonical(
    forms: Forms, observations: Observations, masks: Masks, found: Canonical
) -> None:
    """Choose the form of each decision, and write what it shows."""
    keys = np.empty(len(forms.entries), np.float32)
    for b in range(len(observations)):
        write_keys(forms, observations[b], keys)
        form = 0
        for p in range(1, len(keys)):
            if keys[p] > keys[form]:
                form = p
        found.forms[b] = form
        entries, actions = forms.entries[form], forms.actions[form]
        for i in range(len(entries)):
            found.observations[b, i] = observations[b, entries[i]]
        for action in range(len(actions)):
            found.masks[b, action] = masks[b, actions[action]]


@kernel
def write_keys(forms: Forms, observation: Observations, keys: NDArray[np.float32]) -> None:
    """Write the keys, (P,), of all forms of one observation, (N,), most of whose entries are 0."""
    keys[:] = 0
    for i in range(len(forms.keys)):
        x = observation[i]
        if x != 0:
            for p in range(len(keys)):
                keys[p] += x * forms.keys[i, p]


@kernel
def write_translated(
    forms: Forms, numbers: Integers, probabilities: Probabilities, of_game: Probabilities
) -> None:
    """Write the probability of each action of the game."""
    for b in range(len(numbers)):
        actions = forms.actions[numbers[b]]
        for action in range(len(actions)):
            of_game[b, actions[action]] = probabilities[b, action]
