# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""Friction, rotor inertia and payload as parameters of the node ``feedforward``."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ...parameters import Value
from ...recordings import STILL_SPEED
from ...robot import STANDARD_GRAVITY, Payload

if TYPE_CHECKING:
    from ..result import Identification


def joint_parameters(result: Identification) -> tuple[dict[str, Value], tuple[str, ...]]:
    """
    Return the parameters of friction and rotor inertia, and notes.

    :param result: the identified model
    :return: values by the names of the node's parameters, one for each joint in use; sentences
        on offsets
    """
    recorded = _recorded(result)
    names = [name for name, of in zip(result.prior.joint_names, recorded, strict=True) if of]
    viscous, coulomb, load = (
        result.friction.viscous, result.friction.coulomb, result.friction.load
    )  # fmt: skip
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
    return values, _offset_notes(result, recorded)


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


def _recorded(result: Identification) -> NDArray[np.bool_]:
    """Return which joints moved or have an effort, shape (n,); not those of a gripper at rest."""
    moved = [(np.abs(run.qd) > STILL_SPEED).any(axis=0) for run in result.fitted]
    with_effort = [np.isfinite(run.effort).any(axis=0) for run in result.fitted]
    recorded: NDArray[np.bool_] = np.any([*moved, *with_effort], axis=0)
    return recorded


def _offset_notes(result: Identification, recorded: NDArray[np.bool_]) -> tuple[str, ...]:
    if not result.offset[recorded].any():
        return ()
    if result.friction_is_given:
        return ('offsets of the efforts are not written, because the friction is kept',)
    text = (
        'offsets of the efforts are written as Coulomb friction that differs by direction; they '
        'act while a joint moves'
    )
    forwards, backwards = result.friction.coulomb
    lost = 2.0 * np.abs(result.offset) - np.abs(forwards - backwards)
    joints = [
        f'{name} ({missing:.2g} N m or N)'
        for name, missing, of in zip(result.prior.joint_names, lost, recorded, strict=True)
        if of and missing > 1e-3
    ]
    if not joints:
        return (text,)
    lost_text = 'the part of the offset that exceeds the Coulomb friction is not written'
    return (text, f'{lost_text}: {", ".join(joints)}')
