# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""From which state a command was made, told by its numbers, and how long that took."""

from __future__ import annotations

import numpy as np

from ..robots import Array

CLOSE = 1e-3
"""Numbers are the same if they differ by less than this much of the least between two states."""


def latencies(sent: Array, received: Array, commanded: Array, expected: Array) -> Array:
    """
    Return the time from the sending of a state to the receipt of the first command made from it.

    States that no command was made from are left out, and commands that no state explains.

    :param sent: when the states were sent, in order, shape (n,), s
    :param received: when the commands came, in order, shape (m,), s
    :param commanded: one joint's command, shape (m,)
    :param expected: the same for each state of a round, all different, shape (k,)
    :return: shape (at most m,), s
    """
    order = np.argsort(expected)
    ranked = expected[order]
    near = np.clip(np.searchsorted(ranked, commanded), 1, ranked.size - 1)
    near -= commanded - ranked[near - 1] < ranked[near] - commanded
    explained = np.abs(ranked[near] - commanded) < CLOSE * np.diff(ranked).min()
    newest = np.searchsorted(sent, received) - 1
    numbers = newest - (newest - order[near]) % ranked.size
    explained &= numbers >= 0
    used, first = np.unique(numbers[explained], return_index=True)
    found: Array = received[explained][first] - sent[used]
    return found
