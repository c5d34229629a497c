# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""
Loop joints: the joints of a linkage that its spanning tree, the URDF, does not contain.

A loop joint connects frame 1 on one link and frame 2 on another. Its constraints are the motions
of frame 2 relative to frame 1 that it prevents, [angular; linear], in the axes of frame 1.
"""

from __future__ import annotations

from dataclasses import dataclass, field
import enum

import numpy as np
from numpy.typing import ArrayLike

from ..arrays import Array, finite_vector
from ..dynamics.tree import Placement, rotation_from_z_to
from ..errors import InputError, brief
from ..robot import RobotModel


class LoopJointType(enum.Enum):
    """Types of loop joints, by the motion that they permit."""

    REVOLUTE = 'revolute'  # rotation about the axis
    PRISMATIC = 'prismatic'  # translation along the axis
    CYLINDRICAL = 'cylindrical'  # rotation about and translation along the axis
    SPHERICAL = 'spherical'  # rotation about the common origin of both frames
    FIXED = 'fixed'  # none


# Of the six motions [angular; linear] in axes with z along the joint's axis.
_PREVENTED = {
    LoopJointType.REVOLUTE: (0, 1, 3, 4, 5),
    LoopJointType.PRISMATIC: (0, 1, 2, 3, 4),
    LoopJointType.CYLINDRICAL: (0, 1, 3, 4),
    LoopJointType.SPHERICAL: (3, 4, 5),
    LoopJointType.FIXED: (0, 1, 2, 3, 4, 5),
}


@dataclass(frozen=True)
class LoopJoint:
    """
    A joint that closes a loop: frame 1 on one link, frame 2 on another.

    The joint is closed where both frames coincide, up to the motion that its type permits.

    :param name: name of the joint, for errors
    :param type: a :class:`LoopJointType` or its value, such as ``'revolute'``
    :param link_1: name of the link that carries frame 1; ``link_2`` carries frame 2
    :param placement_1: pose of frame 1 in its link, as ``placement_2`` of frame 2; by default the
        link's own frame
    :param axis: axis of rotation or translation, the same numbers in both frames, shape (3,), of
        any length; spherical and fixed joints do not use it
    """

    name: str
    type: LoopJointType | str
    link_1: str
    link_2: str
    placement_1: Placement = field(default_factory=Placement.identity)
    placement_2: Placement = field(default_factory=Placement.identity)
    axis: ArrayLike = (0.0, 0.0, 1.0)

    def __post_init__(self) -> None:
        if not isinstance(self.name, str):
            raise InputError('name', f'expected the name of a loop joint, got {brief(self.name)}')
        owner = f'of loop joint {self.name!r}'
        try:
            object.__setattr__(self, 'type', LoopJointType(self.type))
        except Exception as error:  # a foreign object's comparison may raise anything
            known = ', '.join(known.value for known in LoopJointType)
            reason = f'is {brief(self.type)}; known are {known}'
            raise InputError(f'type {owner}', reason) from error
        for argument in ('placement_1', 'placement_2'):
            if not isinstance(placement := getattr(self, argument), Placement):
                reason = f'expected a Placement, got {brief(placement)}'
                raise InputError(f'{argument} {owner}', reason)
        axis = finite_vector(f'axis {owner}', self.axis, 3)
        length = float(np.linalg.norm(axis))
        if not 0.0 < length < np.inf:
            raise InputError(f'axis {owner}', f'has the length {length}')
        object.__setattr__(self, 'axis', axis / length)


class LoopConstraint:
    """
    The constraints of one loop joint on the joints of a robot.

    Rows of displacements are divided by the longest lever of their loop, so that all rows are
    comparable to angles. Positions ``q``, shape (nq,), are near a closed configuration.
    """

    def __init__(self, model: RobotModel, joint: LoopJoint, q: Array) -> None:
        self.joint = joint
        self._model = model
        self._rows = list(_PREVENTED[LoopJointType(joint.type)])
        z_to_axis = Placement(rotation_from_z_to(np.asarray(joint.axis)), np.zeros(3))
        self._frame_1 = joint.placement_1 @ z_to_axis
        self._frame_2 = joint.placement_2 @ z_to_axis
        for link in (joint.link_1, joint.link_2):
            model.jacobian(model.neutral_position, link)  # raises the error of an unknown link
        self._is_angular = np.less(self._rows, 3)
        self._scale = np.where(self._is_angular, 1.0, 1.0 / self._lever(q))

    def error(self, q: Array) -> Array:
        """Return the prevented displacement of frame 2 from frame 1, scaled, shape (c,)."""
        R, p = self._relative_pose(q)
        turn = rotation_vector(R) if 2 in self._rows else tilt(R)
        return np.asarray(self._scale * np.concatenate([turn, p])[self._rows])

    def gap(self, q: Array) -> tuple[float, float]:
        """Return the size of the prevented displacement and angle, m and rad."""
        error = self.error(q) / self._scale
        displacement, angle = error[~self._is_angular], error[self._is_angular]
        return float(np.linalg.norm(displacement)), float(np.linalg.norm(angle))

    def matrix(self, q: Array) -> Array:
        """Return the loop's rows of K, scaled, shape (c, nv); K qd is the prevented velocity."""
        return np.asarray(self._scale[:, np.newaxis] * self._relative_jacobian(q)[self._rows])

    def bias(self, q: Array, qd: Array) -> Array:
        """Return Kdot qd, the prevented acceleration at qdd = 0, scaled, shape (c,)."""
        E_1, E_2, p = self._turns_and_offset(q)
        w_1, v_1, wd_1, a_1 = self._motion(E_1, q, qd, self.joint.link_1, self._frame_1)
        w_2, v_2, wd_2, a_2 = self._motion(E_2, q, qd, self.joint.link_2, self._frame_2)
        # d(omega_2 - omega_1)/dt and d^2 p/dt^2 in the axes of frame 1, which turns with omega_1
        pd = v_2 - v_1 - _cross(w_1, p)
        angular = wd_2 - wd_1 - _cross(w_1, w_2)
        linear = a_2 - a_1 - _cross(wd_1, p) - _cross(w_1, _cross(w_1, p))
        linear -= 2.0 * _cross(w_1, pd)
        return np.asarray(self._scale * np.concatenate([angular, linear])[self._rows])

    def _lever(self, q: Array) -> float:
        """Return the longest lever of a rotating joint of the loop at frame 2, m; 1 without."""
        J = self._relative_jacobian(q)
        turns = np.linalg.norm(J[:3], axis=0) > 1e-6
        longest = float(np.linalg.norm(J[3:, turns], axis=0).max(initial=0.0))
        return longest if longest > 1e-9 else 1.0

    def _relative_jacobian(self, q: Array) -> Array:
        """Return the Jacobian of frame 2 relative to frame 1, in the axes of frame 1, (6, nv)."""
        # omega = omega_2 - omega_1, pd = v_2 - v_1 - omega_1 x p
        E_1, E_2, p = self._turns_and_offset(q)
        J_1 = self._model.jacobian(q, self.joint.link_1, self._frame_1.translation)
        J_2 = self._model.jacobian(q, self.joint.link_2, self._frame_2.translation)
        angular_1 = E_1 @ J_1[:3]
        angular = E_2 @ J_2[:3] - angular_1
        linear = E_2 @ J_2[3:] - E_1 @ J_1[3:] - _cross(angular_1, p)
        return np.concatenate([angular, linear])

    def _relative_pose(self, q: Array) -> tuple[Array, Array]:
        """Return rotation and displacement of frame 2 relative to frame 1, in its axes."""
        one, other = (
            Placement(pose[:3, :3], pose[:3, 3]) @ frame
            for pose, frame in (
                (self._model.forward_kinematics(q, self.joint.link_1), self._frame_1),
                (self._model.forward_kinematics(q, self.joint.link_2), self._frame_2),
            )
        )
        turn = one.rotation.T
        return turn @ other.rotation, turn @ (other.translation - one.translation)

    def _turns_and_offset(self, q: Array) -> tuple[Array, Array, Array]:
        """Return the rotations of both links' axes to those of frame 1, and p_2 - p_1 in these."""
        R, p = self._relative_pose(q)
        return self._frame_1.rotation.T, R @ self._frame_2.rotation.T, p

    def _motion(
        self, E: Array, q: Array, qd: Array, link: str, frame: Placement
    ) -> tuple[Array, Array, Array, Array]:
        """Return angular and linear velocity and acceleration of a frame's origin at qdd = 0."""
        J = self._model.jacobian(q, link, frame.translation)
        J_rate = self._model.jacobian_rate(q, qd, link, frame.translation)
        w, v, wd, vd = np.concatenate([J @ qd, J_rate @ qd]).reshape(4, 3) @ E.T
        return w, v, wd, vd + _cross(w, v)


def _cross(a: Array, b: Array) -> Array:
    """Return a x b of vectors, or of the columns of a; numpy's takes ten times as long."""
    return np.array([
        a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]
    ])


def tilt(R: Array) -> Array:
    """Return the smallest rotation that takes the z axis to R e_z, as a rotation vector in rad."""
    x, y, z = R[:, 2]
    return _along(np.array([-y, x, 0.0]), z)


def rotation_vector(R: Array) -> Array:
    """Return axis times angle of a rotation, shape (3,), rad."""
    axis_times_sine = 0.5 * np.array([R[2, 1] - R[1, 2], R[0, 2] - R[2, 0], R[1, 0] - R[0, 1]])
    return _along(axis_times_sine, 0.5 * (np.trace(R) - 1.0))


def _along(axis_times_sine: Array, cosine: float) -> Array:
    """Return axis times angle; of a half turn only the angle, about x."""
    sine = float(np.linalg.norm(axis_times_sine))
    if sine < 1e-12:
        return axis_times_sine if cosine > 0.0 else np.array([np.pi, 0.0, 0.0])
    return np.asarray(axis_times_sine * (np.arctan2(sine, cosine) / sine))
