# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""The limits for a trajectory: those of the URDF, or the user's."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
import enum
import math

import numpy as np
from numpy.typing import NDArray

from ..arrays import Array
from ..errors import InputError, UnknownNameError
from ..feedforward.motion import Interpolation, JointRules
from ..robot import RobotModel


class Quantity(enum.Enum):
    """A quantity with a limit."""

    POSITION = 'position'
    VELOCITY = 'velocity'
    ACCELERATION = 'acceleration'
    EFFORT = 'effort'


@dataclass(frozen=True, eq=False)
class TrajectoryLimits:
    """The limits of all joints; ``inf`` for no limit."""

    joint_names: tuple[str, ...]  # the n joints in the model's order
    sliding: frozenset[str]  # names of the prismatic joints
    continuous: NDArray[np.bool_]  # shape (n,)
    lower: Array  # position limits, shape (n,), rad or m
    upper: Array  # position limits, shape (n,), rad or m
    velocity: Array  # shape (n,), rad/s or m/s
    acceleration: Array  # shape (n,), rad/s^2 or m/s^2
    effort: Array  # shape (n,), N m or N
    with_jerk_limits: tuple[str, ...] = ()  # joints that have one in the URDF, which is not used

    @classmethod
    def of_model(
        cls, model: RobotModel, given: Mapping[Quantity, Mapping[str | None, float]] | None = None
    ) -> TrajectoryLimits:
        """
        Return the limits of a URDF, of joints with one axis; given ones replace them.

        The acceleration limit of URDF 1.2 is the lower one of acceleration and deceleration.
        """
        for name in model.joints_of_several_axes:
            raise InputError('model', f'joint {name!r} of {model.name!r} has more than one axis')
        # Many URDFs have 0 for an unknown limit.
        velocity, effort, acceleration = (
            np.where(given > 0.0, given, np.inf)
            for given in (model.velocity_limits, model.effort_limits, model.acceleration_limits)
        )
        joints = {} if model.description is None else model.description.joints
        limits = cls(
            model.joint_names,
            frozenset(name for name, joint in joints.items() if joint.type == 'prismatic'),
            model.continuous,
            np.where(model.continuous, -np.inf, model.position_lower),
            np.where(model.continuous, np.inf, model.position_upper),
            velocity,
            acceleration,
            effort,
            tuple(name for name, joint in joints.items() if joint.limits.jerk < math.inf),
        )
        for quantity, by_joint in (given or {}).items():
            limits = limits.with_limits(quantity, by_joint)
        return limits

    def with_limits(
        self, quantity: Quantity, given: Mapping[str | None, float]
    ) -> TrajectoryLimits:
        """
        Return limits with other values for one quantity.

        :param given: limits by joint name; ``None`` stands for all joints that are not named
        :raises UnknownNameError: an unknown joint
        :raises InputError: a limit of 0 or less
        """
        values = getattr(self, quantity.value).copy()
        for name in sorted(given, key=lambda name: name is not None):
            if not given[name] > 0.0:
                raise InputError(f'{quantity.value} limit', f'{given[name]:g} is not above 0')
            values[slice(None) if name is None else self.index(name)] = given[name]
        return replace(self, **{quantity.value: values})

    def unit(self, joint: str, quantity: Quantity) -> str:
        """Return the SI unit of a joint's quantity."""
        if quantity is Quantity.EFFORT:
            return 'N' if joint in self.sliding else 'N m'
        per_time = {Quantity.VELOCITY: '/s', Quantity.ACCELERATION: '/s^2'}.get(quantity, '')
        return ('m' if joint in self.sliding else 'rad') + per_time

    def index(self, joint: str) -> int:
        """Return the index of a joint; an UnknownNameError names an unknown one."""
        if joint not in self.joint_names:
            raise UnknownNameError('joint', joint, self.joint_names)
        return self.joint_names.index(joint)

    def rules(
        self, start_tolerance: float = math.inf,
        interpolation: Interpolation = Interpolation.LINEAR,
    ) -> JointRules:
        """Return the node's rules with these limits; tolerance of the start in rad or m."""
        return JointRules(
            joint_names=self.joint_names, lower=self.lower, upper=self.upper,
            continuous=self.continuous, velocity_limits=self.velocity,
            start_tolerance=start_tolerance, interpolation=interpolation,
            allow_partial_joints_goal=True,
        )
