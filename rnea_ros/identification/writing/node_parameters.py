# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""Friction, rotor inertia and payload as parameters of the node ``feedforward``."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ...arrays import Array
from ...parameters import Value
from ...robot import STANDARD_GRAVITY, Payload

if TYPE_CHECKING:
    from ..result import Identification


def joint_parameters(result: Identification) -> tuple[dict[str, Value], tuple[str, ...]]:
    """
    Return the parameters of friction and rotor inertia, and notes.

    The node has no offset of an effort. An offset o is written as Coulomb friction C + o in
    positive and C - o in negative direction, at least 0: the same effort while the joint moves.

    :param result: the identified model
    :return: values by the names of the node's parameters, one for each recorded joint; sentences
        on offsets
    """
    recorded = _recorded(result)
    names = [name for name, of in zip(result.prior.joint_names, recorded, strict=True) if of]
    forwards, backwards = result.friction.coulomb
    coulomb = np.maximum([forwards + result.offset, backwards - result.offset], 0.0)
    viscous, load = result.friction.viscous, result.friction.load
    values: dict[str, Value] = {'joints': names}
    if not np.array_equal(result.prior.gravity, STANDARD_GRAVITY):
        values['gravity'] = result.prior.gravity.tolist()
    values['armature'] = result.armature[recorded].tolist()
    values['friction.model'] = 'parameters'
    for name, directions in (('viscous', viscous), ('coulomb', coulomb)):
        values[f'friction.{name}'] = directions[0, recorded].tolist()
        if (directions[0, recorded] != directions[1, recorded]).any():
            values[f'friction.{name}_negative'] = directions[1, recorded].tolist()
    if load[recorded].any():
        values['friction.load'] = load[recorded].tolist()
    smoothing = result.friction.smoothing_velocity[recorded]
    values['friction.smoothing_velocity'] = smoothing.tolist()
    return values, _offset_notes(result, recorded, coulomb)


def payload_parameters(payload: Payload) -> dict[str, Value]:
    """
    Return the parameters of a payload.

    :param payload: payload of one link
    """
    return {
        'payload.link': [payload.link],
        'payload.mass': [float(payload.mass)],
        'payload.com': np.asarray(payload.com, dtype=np.float64).tolist(),
        'payload.inertia': np.asarray(payload.inertia, dtype=np.float64).tolist(),
    }


def _recorded(result: Identification) -> Array:
    """Return which joints were recorded, shape (n,); the others are at rest at zero."""
    runs = result.comparison.held_out
    seen: Array = np.any([run.q.any(axis=0) | np.isfinite(run.effort).any(axis=0) for run in runs], axis=0)
    return seen


def _offset_notes(result: Identification, recorded: Array, coulomb: Array) -> tuple[str, ...]:
    offset = np.where(recorded, result.offset, 0.0)
    if not offset.any():
        return ()
    notes = ['offsets of the efforts are written as Coulomb friction that differs by direction']
    lost = np.abs(0.5 * (coulomb[0] - coulomb[1]) - offset)
    clipped = [
        f'{name} ({offset[joint]:.2g}, written {offset[joint] - lost[joint]:.2g})'
        for joint, name in enumerate(result.prior.joint_names)
        if lost[joint] > 1e-3 * abs(offset[joint])
    ]
    return tuple(notes)
