# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""Settings of friction and rotors, and the losses of joints that they stand for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ...arrays import Array
from ...errors import InputError, brief
from ...robot import RobotModel
from ..law import FrictionModel, JointFriction, VelocitySource
from .checks import in_range, per_joint
from .ranges import RANGES

AS_POSITIVE = (-1.0,)
"""Stands for the values of the positive direction."""


@dataclass(frozen=True)
class FrictionSettings:
    """
    Per-joint values are one for all commanded joints or one for each.

    :param model: where friction is known from
    :param viscous: N m s/rad or N s/m
    :param coulomb: N m or N
    :param viscous_negative: for motion in the negative direction
    :param coulomb_negative: for motion in the negative direction
    :param load: Coulomb friction for each newton metre, or newton, that the joint carries
    :param smoothing_velocity: below about this speed Coulomb friction fades, rad/s or m/s
    :param velocity: which velocity friction is computed from
    :param armature: inertia that the rotor adds to the joint, kg m^2 or kg
    :param rotor_inertia: of the rotor itself, kg m^2, before the gear
    :param gear_ratio: turns of the rotor for one turn of the joint
    """

    model: FrictionModel = FrictionModel.NONE
    viscous: tuple[float, ...] = (0.0,)
    coulomb: tuple[float, ...] = (0.0,)
    viscous_negative: tuple[float, ...] = AS_POSITIVE
    coulomb_negative: tuple[float, ...] = AS_POSITIVE
    load: tuple[float, ...] = (0.0,)
    smoothing_velocity: tuple[float, ...] = (0.05,)
    velocity: VelocitySource = VelocitySource.MEASURED
    armature: tuple[float, ...] = (0.0,)
    rotor_inertia: tuple[float, ...] = (0.0,)
    gear_ratio: tuple[float, ...] = (1.0,)


IDEAL_JOINTS = FrictionSettings()
"""Neither friction nor rotors."""


def resolve_friction(
    settings: FrictionSettings,
    joints: Sequence[str],
    in_model: NDArray[np.intp],
    model: RobotModel,
    *,
    compensated: bool,
) -> JointFriction:
    """
    Return the losses of all joints of a model; those that are not commanded have none.

    :param settings: what was set
    :param joints: the commanded joints
    :param in_model: their numbers in the model
    :param model: the robot
    :param compensated: whether the hardware compensates friction by itself
    :raises InputError: the first parameter that cannot be used
    """

    def checked(parameter: str, values: Sequence[float]) -> Array:
        return per_joint(parameter, values, joints)

    def both_ways(parameter: str, positive: Sequence[float], negative: Sequence[float]) -> Array:
        forwards = checked(f'friction.{parameter}', positive)
        if tuple(negative) == AS_POSITIVE:
            return np.array([forwards, forwards])
        backwards = checked(f'friction.{parameter}_negative', negative)
        if (backwards < 0.0).any():
            raise InputError(
                f'friction.{parameter}_negative',
                f'{brief(negative)} has a negative value; only [-1.0] alone stands for the '
                'values of the positive direction',
            )
        return np.array([forwards, backwards])

    viscous = both_ways('viscous', settings.viscous, settings.viscous_negative)
    coulomb = both_ways('coulomb', settings.coulomb, settings.coulomb_negative)
    load = checked('friction.load', settings.load)
    smoothing = checked('friction.smoothing_velocity', settings.smoothing_velocity)
    gear_ratio = checked('gear_ratio', settings.gear_ratio)
    armature = checked('armature', settings.armature)
    armature = armature + checked('rotor_inertia', settings.rotor_inertia) * gear_ratio**2
    in_range('armature', armature.tolist(), *RANGES['armature'])
    if settings.model is FrictionModel.URDF:
        viscous = np.array(2 * [model.damping[in_model]])
        coulomb = np.array(2 * [model.friction[in_model]])
        load = np.zeros_like(load)
    if compensated or settings.model is FrictionModel.NONE:
        viscous, coulomb, load = np.zeros_like(viscous), np.zeros_like(coulomb), 0.0 * load

    def in_all(values: Array, default: float = 0.0) -> Array:
        spread = np.full((*values.shape[:-1], model.nv), default)
        spread[..., in_model] = values
        return spread

    return JointFriction(
        in_all(viscous), in_all(coulomb), in_all(load), in_all(smoothing, 1.0), in_all(armature)
    )
