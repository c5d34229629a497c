# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""
Collisions of the links with each other and with a floor, in samples of a motion.

In: a :class:`.CollisionModel`, a :class:`.Trajectory` and a rate. Out: a :class:`.Trap` for the
first collision, and sentences for remarks.
"""

from __future__ import annotations

import numpy as np

from ..collision import REACH, CollisionModel
from ..feedforward.motion import Trajectory
from .efforts import samples
from .traps import Trap


def collisions(
    model: CollisionModel, trajectory: Trajectory, rate: float
) -> tuple[list[Trap], list[str]]:
    """Return the trap for the first collision, and remarks; the rate is the lowest one, Hz."""
    time, q, _, _ = samples(trajectory, rate)
    distances = model.distances(q)
    colliding = np.flatnonzero((distances < 0.0).any(axis=1))
    if colliding.size:
        first = colliding[0]
        one, other = model.pairs[distances[first].argmin()]
        share = 100.0 * colliding.size / len(time)
        text = f'{one} and {other} at {time[first]:.3f} s; {share:.1f} % of the samples collide'
        return [Trap('collision', text)], list(model.remarks)
    row, pair = np.unravel_index(distances.argmin(), distances.shape)
    nearest = f'all distances are above {1000.0 * REACH:.0f} mm'
    if distances[row, pair] < REACH:
        one, other = model.pairs[pair]
        nearest = (f'least distance {1000.0 * distances[row, pair]:.0f} mm, of {one} and {other} '
                   f'at {time[row]:.3f} s')  # fmt: skip
    verdict = 'no collision' if model.is_complete else 'collisions: not all shapes are known'
    return [], [f'{verdict}: {nearest}', *model.remarks]
