# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""The result of an identification."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
import os
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ..arrays import Array
from ..feedforward.law import JointFriction
from ..files import write_file
from ..parameters import parameter_file_text
from ..robot import RobotModel
from ..urdf import with_inertials
from .base_parameters import BaseParameters
from .comparison import Comparison
from .run import Run
from .writing import joint_parameters, link_inertials

DETERMINED = 0.75
"""Least share of a parameter's prior variance that the data remove if they determine it."""


class Origin(str, Enum):
    """What determined a parameter."""

    DATA = 'data'
    PRIOR = 'URDF'
    NOTHING = 'nothing'

    @classmethod
    def of(cls, removed_variance: float, has_effect: bool) -> Origin:
        """
        Return the origin of a parameter.

        :param removed_variance: share of its prior variance that the data removed
        :param has_effect: whether the parameter has any influence on the efforts
        """
        if not has_effect:
            return cls.NOTHING
        return cls.DATA if removed_variance >= DETERMINED else cls.PRIOR


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
    :param covariance: of them, shape (10 * bodies, 10 * bodies)
    :param origin: what determined each of them
    :param friction: friction of the joints; the offset is in its Coulomb friction, as the node
        has no parameter for it: C + o in positive and C - o in negative direction, at least 0
    :param armature: reflected rotor inertia, shape (n,), kg m^2 or kg
    :param offset: offset of the effort sensors, shape (n,), N m or N
    :param joint_deviations: standard deviations of friction, rotor inertia and offset
    :param base: identifiable combinations of the parameters
    :param comparison: errors on the runs that were not fitted
    :param fitted: the runs that were fitted
    :param notes: what the data lack, one sentence each
    :param friction_is_given: the friction was not identified, and no part of the offset is in it
    """

    prior: RobotModel
    model: RobotModel
    parameters: Array
    covariance: Array
    origin: tuple[Origin, ...]
    friction: JointFriction
    armature: Array
    offset: Array
    joint_deviations: JointDeviations
    base: BaseParameters
    comparison: Comparison
    fitted: tuple[Run, ...]
    notes: tuple[str, ...] = ()
    friction_is_given: bool = False

    @property
    def deviations(self) -> Array:
        """Standard deviations of the parameters, shape (10 * bodies,)."""
        deviations: Array = np.sqrt(np.diag(self.covariance))
        return deviations

    def efforts(self, q: Array, qd: Array, qdd: Array) -> Array:
        """
        Return the efforts of N motions with rotors and friction, shape (N, n), N m or N.

        :param q: joint positions, shape (N, n)
        :param qd: joint velocities, shape (N, n)
        :param qdd: joint accelerations, shape (N, n)
        """
        return total_efforts(self.model, self.friction, self.armature, q, qd, qdd)

    def urdf(self) -> tuple[str, tuple[str, ...]]:
        """
        Return the text of the URDF with the identified inertials, and notes.

        Nothing else of the text changes.

        :return: the text; one sentence for each body of several links
        :raises UrdfError: the model was not built from a URDF
        """
        inertials, notes = link_inertials(self.prior, self.parameters)
        description = self.prior.description
        text = '' if description is None else description.text
        return with_inertials(text, inertials), notes

    def write_urdf(self, path: str | os.PathLike[str]) -> None:
        """
        Write the URDF with the identified inertials.

        :param path: file to write
        :raises UrdfError: the model was not built from a URDF
        :raises FileError: the file cannot be written
        """
        write_file(Path(path), self.urdf()[0])

    def write_parameters(
        self,
        path: str | os.PathLike[str],
        comments: Sequence[str] = (),
        effort_scale: ArrayLike = 1.0,
    ) -> None:
        """
        Write friction and rotor inertia as a parameter file of the node ``feedforward``.

        :param path: file to write
        :param comments: lines at the beginning
        :param effort_scale: factor with which the efforts were loaded, one number or one for each
            model joint; written if it is not 1
        :raises FileError: the file cannot be written
        """
        values, _ = joint_parameters(self)
        names = self.prior.joint_names
        scale = dict(zip(names, np.broadcast_to(effort_scale, len(names)).tolist(), strict=True))
        if any(factor != 1.0 for factor in scale.values()):
            joints: Any = values['joints']
            values['effort_scale'] = [scale[name] for name in joints]
        write_file(Path(path), parameter_file_text(values, comments))


def total_efforts(
    model: RobotModel, friction: JointFriction, armature: Array, q: Array, qd: Array, qdd: Array
) -> Array:
    """
    Return the efforts of N motions, as the node computes them, shape (N, n).

    :param model: the rigid bodies
    :param friction: friction of the joints
    :param armature: reflected rotor inertia, shape (n,), kg m^2 or kg
    :param q: joint positions, shape (N, n)
    :param qd: joint velocities, shape (N, n)
    :param qdd: joint accelerations, shape (N, n)
    """
    rigid = model.inverse_dynamics_batch(q, qd, qdd)
    return rigid + armature * qdd + friction.friction(qd, rigid)
