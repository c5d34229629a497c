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
from numpy.typing import ArrayLike, NDArray

from ..arrays import Array
from ..files import write_file
from ..parameters import Value, parameter_file_text
from ..recordings import STILL_SPEED
from ..robot import STANDARD_GRAVITY, RobotModel
from ..urdf import with_inertials
from .base_parameters import BaseParameters
from .comparison import ArmModel, Comparison
from .link_inertials import link_inertials
from .run import Run

DETERMINED = 0.75  # least share of a parameter's prior variance that the data remove


class ParameterOrigin(str, Enum):
    """What determined a parameter."""

    DATA = 'data'
    PRIOR = 'URDF'
    NOTHING = 'nothing'

    @classmethod
    def of(cls, removed_variance: float, has_effect: bool) -> ParameterOrigin:
        """Return the origin, by the removed share of the prior variance, and by its effect."""
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
class Identification(ArmModel):
    """
    An identified model of a robot with n joints.

    :param prior: the model of the URDF; ``model`` has the identified rigid bodies
    :param parameters: standard parameters of the bodies, in the order of
        :attr:`~rnea_ros.RobotModel.inertial_parameters`, shape (10 * bodies,)
    :param covariance: of them, shape (10 * bodies, 10 * bodies)
    :param origin: what determined each of them
    :param joint_deviations: standard deviations of friction, rotor inertia and offset
    :param base: identifiable combinations of the parameters
    :param comparison: errors on the runs that were not fitted
    :param fitted: the runs that were fitted
    :param notes: what the data lack, one sentence each
    """

    prior: RobotModel
    parameters: Array
    covariance: Array
    origin: tuple[ParameterOrigin, ...]
    joint_deviations: JointDeviations
    base: BaseParameters
    comparison: Comparison
    fitted: tuple[Run, ...]
    notes: tuple[str, ...] = ()

    @property
    def deviations(self) -> Array:
        """Standard deviations of the parameters, shape (10 * bodies,)."""
        return np.sqrt(np.diag(self.covariance))

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
        self, path: str | os.PathLike[str], comments: Sequence[str] = (),
        effort_scale: ArrayLike = 1.0
    ) -> None:
        """Write the file of :meth:`parameter_file`; FileError if it cannot be written."""
        write_file(Path(path), self.parameter_file(comments, effort_scale))

    def parameter_file(
        self, comments: Sequence[str] = (), effort_scale: ArrayLike = 1.0
    ) -> str:
        """
        Return friction and rotor inertia as text of a parameter file of the node ``feedforward``.

        :param comments: lines at the beginning
        :param effort_scale: factor with which the efforts were loaded, one number or one for each
            model joint; written if it is not 1
        """
        values = self.node_parameters()
        names = self.prior.joint_names
        scale = dict(zip(names, np.broadcast_to(effort_scale, len(names)).tolist(), strict=True))
        if any(factor != 1.0 for factor in scale.values()):
            joints: Any = values['joints']
            values['effort_scale'] = [scale[name] for name in joints]
        return parameter_file_text(values, comments)

    def node_parameters(self) -> dict[str, Value]:
        """
        Return the parameters of friction and rotor inertia.

        :return: values by the names of the node's parameters, one for each joint in use
        """
        recorded, friction = self._recorded(), self.friction
        names = [name for name, used in zip(self.prior.joint_names, recorded, strict=True) if used]
        values: dict[str, Value] = {'joints': names}
        if not np.array_equal(self.prior.gravity, STANDARD_GRAVITY):
            values['gravity'] = self.prior.gravity.tolist()
        values['armature'] = self.armature[recorded].tolist()
        values['friction.model'] = 'parameters'
        for name in ('viscous', 'coulomb'):
            positive, negative = getattr(friction, name)[:, recorded]
            values[f'friction.{name}'] = positive.tolist()
            if (positive != negative).any():
                values[f'friction.{name}_negative'] = negative.tolist()
        for name in ('load', 'smoothing_velocity', 'offset'):
            each = getattr(friction, name)[recorded]
            if each.any():  # no smoothing velocity is 0
                values[f'friction.{name}'] = each.tolist()
        return values

    def _recorded(self) -> NDArray[np.bool_]:
        """Return which joints moved or have an effort, shape (n,); no gripper at rest."""
        moved = [(np.abs(run.qd) > STILL_SPEED).any(axis=0) for run in self.fitted]
        with_effort = [np.isfinite(run.effort).any(axis=0) for run in self.fitted]
        return np.asarray(np.any([*moved, *with_effort], axis=0))
