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
from ..dynamics.kernels import PARAMETERS
from ..dynamics.tree import Placement, RigidBodyInertia
from ..errors import UrdfError
from ..files import write_file
from ..parameters import Value, parameter_file_text
from ..recordings import STILL_SPEED
from ..robot import STANDARD_GRAVITY, RobotModel, link_inertia
from ..urdf import Inertial, Origin, RobotDescription, rounded, with_inertials
from .base_parameters import BaseParameters
from .comparison import ArmModel, Comparison
from .run import Run

DETERMINED = 0.75  # least share of a parameter's prior variance that the data remove
SAME = 1e-9  # relative difference below which parameters are those of the URDF: rounding errors


def link_inertials(
    prior: RobotModel, parameters: Array
) -> tuple[dict[str, Inertial | None], tuple[str, ...]]:
    """
    Return the mass properties of the links that differ from the URDF, and notes.

    Links at fixed joints keep theirs, and the link that carries them has the rest of the body, if
    that is physical. Otherwise it has all, and they have none (None).
    """
    description = prior.description
    if description is None:
        raise UrdfError(f'robot {prior.name!r}', 'has no URDF to write into')
    changed: dict[str, Inertial | None] = {}
    notes = []
    bodies = zip(
        prior.body_names, prior.inertial_parameters.reshape(-1, len(PARAMETERS)),
        np.asarray(parameters).reshape(-1, len(PARAMETERS)), strict=True
    )
    for name, before, after in bodies:
        if np.abs(after - before).max() > SAME * np.abs(before).max():
            link_changes, note = _divided(prior, description, name, after)
            changed.update(link_changes)
            notes += [note] if note else []
    return changed, tuple(notes)


def _divided(
    prior: RobotModel, description: RobotDescription, body: str, parameters: Array
) -> tuple[dict[str, Inertial | None], str]:
    """Return the mass properties of a body's links that change, and a note."""
    frames = prior.tree.frames
    to_body = frames[body].placement.inverse()
    placements = {
        link: to_body @ frame.placement
        for link, frame in frames.items()
        if frame.body == frames[body].body and link in description.links
    }
    inertias = {
        link: link_inertia(description.links[link].inertial).transformed(placement)
        for link, placement in placements.items()
    }
    own = {link: each for link, each in inertias.items() if each.mass > 0.0 or each.J.any()}
    # Some descriptions have a frame without mass at the joint, and the body fixed to it.
    carrier = body if body in own or not own else max(own, key=lambda link: own[link].mass)
    others = [link for link in own if link != carrier]
    whole = rest = RigidBodyInertia.from_parameters(parameters)
    for link in others:
        rest -= own[link]
    old = description.links[carrier].inertial
    axes = Origin() if old is None else old.origin
    inverse = placements[carrier].inverse()
    everything = _inertial(whole.transformed(inverse), axes)
    if not others:
        return {carrier: everything}, ''
    listed, verb = ', '.join(others), 'stay' if len(others) > 1 else 'stays'
    if rest.mass > 0.0:
        inertial = _inertial(rest.transformed(inverse), axes)
        spread = 0.5 * np.trace(inertial.matrix) * np.eye(3) - inertial.matrix
        if np.linalg.eigvalsh(spread)[0] > 0.0:  # a body can have this inertia
            note = f'{carrier} has the change of its body; {listed}, fixed to it, {verb} as before'
            return {carrier: inertial}, note
    removed: dict[str, Inertial | None] = dict.fromkeys(others)
    note = (
        f'{carrier} has the whole mass of its body; the inertial of {listed}, fixed to it, is '
        'removed because it does not fit into the identified body'
    )
    return {**removed, carrier: everything}, note


def _inertial(inertia: RigidBodyInertia, axes: Origin) -> Inertial:
    """Return an inertia about a link's origin as it is written, with the rpy of ``axes``."""
    R = Placement.from_xyz_rpy((0.0, 0.0, 0.0), axes.rpy).rotation
    J = R.T @ inertia.J_com @ R
    x, y, z = inertia.com.tolist()
    ixx, ixy, ixz, iyy, iyz, izz = J[np.triu_indices(3)].tolist()
    return rounded(
        Inertial(Origin((x, y, z), axes.rpy), inertia.mass, (ixx, ixy, ixz, iyy, iyz, izz))
    )


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
    """Standard deviations of the joints' parameters, each of shape (n,)."""

    viscous: Array  #: N m s/rad or N s/m
    coulomb: Array  #: N m or N
    load: Array  #: of the Coulomb friction per N m or N of load
    armature: Array  #: kg m^2 or kg
    offset: Array  #: N m or N
    stiffness: Array  #: of the springs, N m/rad or N/m


@dataclass(frozen=True)
class Identification(ArmModel):
    """An identified model of a robot with n joints."""

    prior: RobotModel  #: the model of the URDF; ``model`` has the identified rigid bodies
    #: standard parameters of the bodies, in the order of
    #: :attr:`~rnea_ros.RobotModel.inertial_parameters`, shape (10 * bodies,)
    parameters: Array
    covariance: Array  #: of them, shape (10 * bodies, 10 * bodies)
    origin: tuple[ParameterOrigin, ...]  #: what determined each of them
    joint_deviations: JointDeviations  #: standard deviations of friction, rotor inertia and offset
    base: BaseParameters  #: identifiable combinations of the parameters
    comparison: Comparison  #: errors on the runs that were not fitted
    fitted: tuple[Run, ...]  #: the runs that were fitted
    notes: tuple[str, ...] = ()  #: what the data lack, one sentence each

    @property
    def deviations(self) -> Array:
        """Standard deviations of the parameters, shape (10 * bodies,)."""
        return np.sqrt(np.diag(self.covariance))

    def urdf(self) -> tuple[str, tuple[str, ...]]:
        """
        Return the text of the URDF with other inertials; a note on each body of several links.

        :raises UrdfError: the model was not built from a URDF
        """
        inertials, notes = link_inertials(self.prior, self.parameters)
        description = self.prior.description
        text = '' if description is None else description.text
        return with_inertials(text, inertials), notes

    def write_urdf(self, path: str | os.PathLike[str]) -> None:
        """Write the text of :meth:`urdf`; FileError if it cannot be written."""
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
        Return friction, rotors and springs as text of a parameter file of ``feedforward``.

        :param comments: lines at the beginning
        :param effort_scale: factor with which the efforts were loaded, one number or one for each
            model joint; written if it is not 1
        """
        values = self.node_parameters()
        names = self.prior.joint_names
        scale = dict(zip(names, np.broadcast_to(effort_scale, len(names)).tolist(), strict=True))
        if set(scale.values()) != {1.0}:
            joints: Any = values['joints']
            values['effort_scale'] = [scale[name] for name in joints]
        return parameter_file_text(values, comments)

    def node_parameters(self) -> dict[str, Value]:
        """Return friction, rotors and springs by the node's parameters, for each joint in use."""
        # These moved or have an effort, unlike a gripper at rest.
        moved = [(np.abs(run.qd) > STILL_SPEED).any(axis=0) for run in self.fitted]
        with_effort = [np.isfinite(run.effort).any(axis=0) for run in self.fitted]
        recorded, friction = np.any([*moved, *with_effort], axis=0), self.friction
        names = [name for name, used in zip(self.prior.joint_names, recorded, strict=True) if used]
        values: dict[str, Value] = {'joints': names}
        if not np.array_equal(self.prior.gravity, STANDARD_GRAVITY):
            values['gravity'] = self.prior.gravity.tolist()
        values['gravity_factor'] = [1.0]  # instead of one for the wrong masses
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
        if friction.shared is not None:
            shared = vars(friction.shared) | {
                'joints': [self.prior.joint_names[joint] for joint in friction.shared.joints]
            }
            values |= {
                f'friction.shared_{name}': shared[name]
                for name in ('joints', 'ratio', 'viscous', 'coulomb')
            }
        if self.spring.stiffness.any():
            for name, each in vars(self.spring).items():
                values[f'spring.{name}'] = each[recorded].tolist()
        return values
