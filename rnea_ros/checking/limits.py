# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""What a trajectory is held to: the limits of the robot's description, or others."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
import enum
import math

import numpy as np
from numpy.typing import NDArray

from ..arrays import Array
from ..errors import InputError, UnknownNameError
from ..feedforward.trajectory import JointRules
from ..robot import RobotModel


class Quantity(enum.Enum):
    """What has a limit."""

    POSITION = 'position'
    VELOCITY = 'velocity'
    ACCELERATION = 'acceleration'
    EFFORT = 'effort'

    def unit(self, *, sliding: bool) -> str:
        """
        Return its SI unit.

        :param sliding: of a joint that slides; else of one that turns
        """
        length = 'm' if sliding else 'rad'
        return {
            Quantity.POSITION: length,
            Quantity.VELOCITY: f'{length}/s',
            Quantity.ACCELERATION: f'{length}/s^2',
            Quantity.EFFORT: 'N' if sliding else 'N m',
        }[self]


@dataclass(frozen=True, eq=False)
class Limits:
    """
    The limits of all joints; ``inf`` where there is none.

    :param joint_names: the joints, n of them, in the model's order
    :param sliding: names of the joints that slide instead of turning
    :param continuous: which of them turn without end, shape (n,)
    :param lower: least positions, shape (n,), rad or m
    :param upper: greatest positions, shape (n,), rad or m
    :param velocity: greatest speeds, shape (n,), rad/s or m/s
    :param acceleration: greatest accelerations, shape (n,), rad/s^2 or m/s^2
    :param effort: greatest efforts, shape (n,), N m or N
    """

    joint_names: tuple[str, ...]
    sliding: frozenset[str]
    continuous: NDArray[np.bool_]
    lower: Array
    upper: Array
    velocity: Array
    acceleration: Array
    effort: Array

    @classmethod
    def of_model(cls, model: RobotModel) -> Limits:
        """
        Return those of a robot's description, which knows none of accelerations.

        :param model: the robot
        :raises InputError: if a joint has more than one axis
        """
        if not model.has_one_axis_joints_only:
            raise InputError('model', f'{model.name!r} has joints of more than one axis')
        # Many URDFs have a limit of 0 where nobody knew it.
        velocity, effort = (
            np.where(given > 0.0, given, np.inf)
            for given in (model.velocity_limits, model.effort_limits)
        )
        return cls(
            model.joint_names,
            _sliding(model),
            model.continuous,
            np.where(model.continuous, -np.inf, model.position_lower),
            np.where(model.continuous, np.inf, model.position_upper),
            velocity,
            np.full(model.nv, np.inf),
            effort,
        )

    def with_limits(self, quantity: Quantity, given: Mapping[str | None, float]) -> Limits:
        """
        Return others of one quantity.

        :param quantity: any but the position
        :param given: the limit of each joint that gets another; that of ``None`` is of all the
            joints that are not named
        :raises UnknownNameError: the robot has no such joint
        :raises InputError: a limit is not above 0
        """
        values = getattr(self, quantity.value).copy()
        for name in sorted(given, key=lambda name: name is not None):
            if not given[name] > 0.0:
                raise InputError(f'{quantity.value} limit', f'{given[name]:g} is not above 0')
            values[slice(None) if name is None else self.index(name)] = given[name]
        return replace(self, **{quantity.value: values})

    def unit(self, joint: str, quantity: Quantity) -> str:
        """Return the SI unit of a quantity of a joint."""
        return quantity.unit(sliding=joint in self.sliding)

    def index(self, joint: str) -> int:
        """
        Return where a joint stands.

        :raises UnknownNameError: the robot has no such joint
        """
        if joint not in self.joint_names:
            raise UnknownNameError('joint', joint, self.joint_names)
        return self.joint_names.index(joint)

    def rules(self, start_tolerance: float = math.inf) -> JointRules:
        """
        Return the rules by which the feedforward node takes a trajectory or refuses it.

        :param start_tolerance: how far from the robot a motion may start at once, rad or m
        """
        return JointRules(
            joint_names=self.joint_names,
            lower=self.lower,
            upper=self.upper,
            continuous=self.continuous,
            velocity_limits=self.velocity,
            start_tolerance=start_tolerance,
            allow_partial_joints_goal=True,
        )


def _sliding(model: RobotModel) -> frozenset[str]:
    """Return the joints that slide; a model without a description has none by name."""
    joints = {} if model.description is None else model.description.joints
    return frozenset(name for name, joint in joints.items() if joint.type == 'prismatic')
