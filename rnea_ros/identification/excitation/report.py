# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""The report of an exciting motion as text."""

from __future__ import annotations

import math

import numpy as np

from ...collision import REACH
from ...command_line import text_table
from .criterion import CUTOFF, PAYLOAD
from .excitation import NOISE, Excitation
from .limits import LOAD_SHARE, POSITION_SHARE

HEADER = ('joint', 'start', 'least', 'greatest', 'range', 'velocity', 'effort', 'torque error')


def report(excitation: Excitation) -> str:
    """Return the report: verdict, accuracy, peaks against limits."""
    model, motion = excitation.model, excitation.motion
    random, found = excitation.random_accuracy.torque, excitation.accuracy.torque
    better = np.mean(np.divide(random, found, out=np.ones_like(found), where=found > 0.0))
    base, added = excitation.parameters
    still = [name for name in model.joint_names if name not in excitation.excited]
    lines = [
        f'{model.name}: {motion.duration:g} s from rest to rest; torques '
        f'{better:.1f} times as accurate as from a random trajectory',
        f'condition of the base regressor: {excitation.condition:.1f}; random trajectories: '
        f'{excitation.random_condition:.1f} (median of the better ones)',
        f'determined: {base} base parameters of the rigid bodies, {added} parameters of friction '
        'and rotor inertia',
        *_payload(excitation),
        *_collisions(excitation),
        *([f'still: {", ".join(still)}'] if still else []),
        '',
        _table(excitation),
        '',
        f'range, velocity, effort: peak as a share of the limit; the motion uses at most '
        f'{100 * POSITION_SHARE:.0f} % of the range,',
        f'{100 * LOAD_SHARE:.0f} % of the velocity and effort limits; efforts are without '
        'friction',
        'torque error: standard deviation of the torques on other motions, N m or N, if the noise '
        'of the efforts is',
        f'white, {100 * NOISE:g} % of the effort limit below {CUTOFF:g} Hz; it is proportional to '
        'the noise. Errors of real arms',
        'are not white: expect 3 to 12 times as much',
    ]
    return '\n'.join(lines)


def _payload(excitation: Excitation) -> list[str]:
    accuracy = excitation.accuracy
    if math.isnan(accuracy.mass):
        return [f'a payload on {accuracy.link} is not determined: the motion does not show it']
    place = '' if math.isnan(accuracy.com) else f', its centre to {1000.0 * accuracy.com:.2g} mm'
    return [
        f'a payload of {PAYLOAD:g} kg on {accuracy.link}: mass to '
        f'{1000.0 * accuracy.mass:.2g} g{place} (standard deviation)'
    ]


def _collisions(excitation: Excitation) -> list[str]:
    collisions, nearest = excitation.constraints.collisions, excitation.nearest
    if collisions is None or nearest is None:
        return []
    one, other = nearest.pair
    found = f'least distance {1000.0 * nearest.distance:.0f} mm, of {one} and {other}'
    if nearest.distance >= REACH:
        found = f'all distances above {1000.0 * REACH:.0f} mm'
    verdict = 'no collision' if collisions.is_complete else 'collisions: not all shapes are known'
    return [f'{verdict} in either motion, every ms: {found}', *collisions.remarks]


def _table(excitation: Excitation) -> str:
    _, (q, qd, qdd) = excitation.motion.sampled()
    limits = excitation.limits
    effort = np.abs(excitation.model.inverse_dynamics_batch(q, qd, qdd)).max(axis=0)
    velocity = np.abs(qd).max(axis=0)
    half = (limits.upper - limits.lower) / 2.0
    away = np.maximum(q.max(axis=0) - limits.middle, limits.middle - q.min(axis=0))
    rows = [HEADER]
    for index, name in enumerate(excitation.model.joint_names):
        rows.append((
            name,
            f'{q[0, index]:.3f}',
            f'{q[:, index].min():.3f}',
            f'{q[:, index].max():.3f}',
            _share(away[index], half[index]),
            _share(velocity[index], limits.velocity[index]),
            _share(effort[index], limits.effort[index]),
            f'{excitation.accuracy.torque[index]:.2g}',
        ))
    return text_table(rows, left=(0,))


def _share(value: float, limit: float) -> str:
    return f'{100.0 * value / limit:.0f} %' if math.isfinite(limit) and limit > 0.0 else '-'
