# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""The result of an identification."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from ..arrays import Array
from ..feedforward.law import JointFriction
from ..robot import RobotModel
from .base_parameters import BaseParameters
from .comparison import Comparison


class Origin(str, Enum):
    """What determined a parameter."""

    DATA = 'data'
    PRIOR = 'URDF'
    NOTHING = 'nothing'


@dataclass(frozen=True)
class JointDeviations:
    """
    Standard deviations of the joints' parameters, each of shape (n,).

    :param viscous: N m s/rad or N s/m
    :param coulomb: N m or N
    :param load: of the Coulomb friction per N m or N of load
    :param armature: kg m^2 or kg
    :param offset: N m or N
    """

    viscous: Array
    coulomb: Array
    load: Array
    armature: Array
    offset: Array


@dataclass(frozen=True)
class Identification:
    """
    An identified model of a robot with n joints.

    :param prior: the model of the URDF
    :param model: the same robot with the identified rigid bodies
    :param parameters: standard parameters of the bodies, in the order of
        :attr:`~rnea_ros.RobotModel.inertial_parameters`, shape (10 * bodies,)
    :param deviations: their standard deviations by block jackknife, same shape
    :param origin: what determined each of them
    :param friction: friction of the joints, equal in both directions
    :param armature: reflected rotor inertia, shape (n,), kg m^2 or kg
    :param offset: offset of the effort sensors, shape (n,), N m or N
    :param joint_deviations: standard deviations of friction, rotor inertia and offset
    :param base: identifiable combinations of the parameters
    :param comparison: errors on the runs that were not fitted
    :param notes: what the data lack, one sentence each
    """

    prior: RobotModel
    model: RobotModel
    parameters: Array
    deviations: Array
    origin: tuple[Origin, ...]
    friction: JointFriction
    armature: Array
    offset: Array
    joint_deviations: JointDeviations
    base: BaseParameters
    comparison: Comparison
    notes: tuple[str, ...] = ()

    def efforts(self, q: Array, qd: Array, qdd: Array) -> Array:
        """
        Return the efforts of N motions: rigid bodies, rotors, friction and offset, shape (N, n).

        :param q: joint positions, shape (N, n)
        :param qd: joint velocities, shape (N, n)
        :param qdd: joint accelerations, shape (N, n)
        """
        rigid = self.model.inverse_dynamics_batch(q, qd, qdd)
        friction: Array = self.friction.friction(qd, rigid)
        return rigid + self.armature * qdd + friction + self.offset
