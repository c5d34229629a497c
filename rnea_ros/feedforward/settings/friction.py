# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""Parameters of joint friction, and the friction of all joints that follows from them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ...arrays import Array
from ...errors import InputError, brief
from ...parameters import EACH, parameter, per_joint
from ...robot import RobotModel
from ..friction import FrictionModel, JointFriction, VelocitySource

MAX_GAIN = 1e6
"""
Largest gain or friction, N m, N m/rad, N m s/rad, 1/s or 1/s^2.

As all bounds, it is wider than any arm needs: a larger number is a mistake of a unit or a digit,
and products of such numbers might not be finite.
"""

AS_POSITIVE = (-1.0,)
"""Stands for the values of the positive direction."""


@dataclass(frozen=True)
class FrictionSettings:
    """Parameters ``friction.*``."""

    model: FrictionModel = parameter(
        FrictionModel.NONE, 'source of the friction parameters', while_active=True
    )
    viscous: tuple[float, ...] = parameter(
        (0.0,), f'viscous friction, {EACH}, N m s/rad or N s/m',
        span=(0.0, MAX_GAIN), while_active=True,
    )
    coulomb: tuple[float, ...] = parameter(
        (0.0,), f'Coulomb friction, {EACH}, N m or N', span=(0.0, MAX_GAIN), while_active=True
    )
    viscous_negative: tuple[float, ...] = parameter(
        AS_POSITIVE, 'viscous friction in negative direction; [-1.0]: as in positive',
        span=(-1.0, MAX_GAIN), while_active=True,
    )
    coulomb_negative: tuple[float, ...] = parameter(
        AS_POSITIVE, 'Coulomb friction in negative direction; [-1.0]: as in positive',
        span=(-1.0, MAX_GAIN), while_active=True,
    )
    load: tuple[float, ...] = parameter(
        (0.0,), f'Coulomb friction per N m or N of joint load, {EACH}',
        span=(0.0, 10.0), while_active=True,
    )
    smoothing_velocity: tuple[float, ...] = parameter(
        (0.05,), f'speed below which Coulomb friction fades, {EACH}, rad/s or m/s',
        span=(1e-6, 1000.0), while_active=True,
    )
    offset: tuple[float, ...] = parameter(
        (0.0,), f'constant effort, such as the offset of a sensor, {EACH}, N m or N',
        span=(-MAX_GAIN, MAX_GAIN), while_active=True,
    )
    velocity: VelocitySource = parameter(
        VelocitySource.MEASURED, 'velocity for the friction model', while_active=True
    )


def resolve_friction(
    settings: FrictionSettings, joints: Sequence[str], joint_indices: NDArray[np.intp],
    model: RobotModel, *, compensated: bool,
) -> JointFriction:
    """
    Return the friction of all joints of a model; uncommanded joints have none.

    :param settings: the parameters, in their ranges, with a value per joint
    :raises InputError: the first parameter that cannot be used
    """
    def both_directions(name: str, positive: Sequence[float], negative: Sequence[float]) -> Array:
        if tuple(negative) == AS_POSITIVE:
            return np.array([positive, positive])
        backwards = per_joint(name, negative, joints)
        if min(backwards) < 0.0:
            raise InputError(
                name,
                f'{brief(negative)} has a negative value; only [-1.0] alone stands for the '
                'values of the positive direction',
            )
        return np.array([positive, backwards])

    viscous = both_directions(
        'friction.viscous_negative', settings.viscous, settings.viscous_negative
    )
    coulomb = both_directions(
        'friction.coulomb_negative', settings.coulomb, settings.coulomb_negative
    )
    load, smoothing = np.array(settings.load), np.array(settings.smoothing_velocity)
    offset = np.array(settings.offset)
    if settings.model is FrictionModel.URDF:
        viscous = np.array(2 * [model.damping[joint_indices]])
        coulomb = np.array(2 * [model.friction[joint_indices]])
        load, offset = np.zeros_like(load), np.zeros_like(offset)
    if compensated or settings.model is FrictionModel.NONE:
        viscous, coulomb, load, offset = (
            np.zeros_like(each) for each in (viscous, coulomb, load, offset)
        )

    def of_all_joints(values: Array, default: float = 0.0) -> Array:
        expanded = np.full((*values.shape[:-1], model.nv), default)
        expanded[..., joint_indices] = values
        return expanded

    return JointFriction(
        of_all_joints(viscous), of_all_joints(coulomb), of_all_joints(load),
        of_all_joints(smoothing, 1.0), of_all_joints(offset),
    )
