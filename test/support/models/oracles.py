# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""What the package is compared with; nothing in here runs the code under test."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from typing import Any
from xml.etree import ElementTree

import numpy as np
from numpy.typing import ArrayLike, NDArray
import pytest

from rnea_ros import ReferenceFrame, Wrench
from support.models.robots import joint, link, numbers, robot

Array = NDArray[np.float64]
Formulation = Callable[..., Array]


def skew(a: Array) -> Array:
    """Return the matrix of a x."""
    return np.array([[0.0, -a[2], a[1]], [a[2], 0.0, -a[0]], [-a[1], a[0], 0.0]])


def random_rotation(rng: np.random.Generator) -> Array:
    """Return a rotation matrix."""
    Q: Array = np.linalg.qr(rng.normal(size=(3, 3)))[0]
    rotation: Array = Q * np.linalg.det(Q)
    return rotation


def random_moments(rng: np.random.Generator) -> Array:
    """Return a rotational inertia that a rigid body can have."""
    A = rng.normal(scale=0.2, size=(3, 3))
    second_moments = A @ A.T
    moments: Array = np.trace(second_moments) * np.eye(3) - second_moments
    return moments


def random_state(seed: int, n: int) -> tuple[Array, Array, Array]:
    """Return q, qd and qdd."""
    q, qd, qdd = np.random.default_rng(seed).normal(size=(3, n))
    return q, qd, qdd


def random_wrenches(seed: int, links: Sequence[str]) -> dict[str, list[Wrench]]:
    """Return wrenches on some links, in all frames, at points and at links' origins."""
    rng = np.random.default_rng(seed)
    chosen = rng.choice(links, size=min(4, len(links)), replace=False)
    frames = (None, str(rng.choice(links)), *ReferenceFrame)
    return {
        str(name): [
            Wrench(force, torque, frame, at if at_a_point else None)
            for frame in frames
            for at_a_point, (force, torque, at) in enumerate(rng.normal(size=(2, 3, 3)).tolist())
        ]
        for name in chosen
    }


def random_tree(seed: int) -> str:
    """Return a random URDF: branches, fixed and massless links, mimic joints, any axes."""
    rng = np.random.default_rng(seed)
    elements = [link('link_0', 1.0)]
    independent: list[str] = []
    for i in range(1, int(rng.integers(2, 16))):
        kind = str(rng.choice(
            ['revolute', 'continuous', 'prismatic', 'fixed'], p=[0.4, 0.15, 0.25, 0.2]
        ))
        mimic = ''
        if kind in ('revolute', 'prismatic') and independent and rng.random() < 0.2:
            multiplier, offset = rng.normal(size=2)
            mimic = (
                f'<mimic joint="{rng.choice(independent)}" multiplier="{numbers(multiplier)}" '
                f'offset="{numbers(offset)}"/>'
            )
        elif kind != 'fixed':
            independent.append(f'joint_{i}')
        elements.append(_random_link(rng, f'link_{i}'))
        elements.append(joint(
            f'joint_{i}', kind, f'link_{rng.integers(i)}', f'link_{i}',
            xyz=rng.normal(scale=0.3, size=3), rpy=rng.normal(size=3), axis=_random_axis(rng),
            more=mimic,
        ))
    return robot(*elements, name=f'random_{seed}')


def _random_link(rng: np.random.Generator, name: str) -> str:
    if rng.random() < 0.15:
        return link(name)
    J = random_moments(rng)
    inertia = (J[0, 0], J[0, 1], J[0, 2], J[1, 1], J[1, 2], J[2, 2])
    com, rpy = rng.normal(scale=0.2, size=3), rng.normal(size=3)
    return link(name, rng.uniform(0.1, 5.0), com, inertia, rpy)


def _random_axis(rng: np.random.Generator) -> Array:
    axis = np.zeros(3)
    axis[rng.integers(3)] = rng.choice([-1.0, 1.0])
    # The frame's own axis, off by nothing, by a rounding in a CAD export, or by anything.
    axis += rng.choice([0.0, 1e-5, 1e-3, 1.0]) * rng.normal(size=3)
    unit: Array = axis / np.linalg.norm(axis)
    return unit


def mimic_rules(urdf: str) -> dict[str, tuple[str, float, float]]:
    """Return leader, multiplier and offset of moving mimic joints; chains are not resolved."""
    joints = {
        # A transmission too has elements of this name, below.
        element.get('name', ''): element
        for element in ElementTree.fromstring(urdf).findall('joint')
    }
    rules = {}
    for name, element in joints.items():
        mimic = element.find('mimic')
        if mimic is None or element.get('type') == 'fixed':
            continue
        leader = mimic.get('joint', '')
        if leader not in joints:
            # alex_psyonic_hands.urdf leaves the side out: Left_index_q2 mimics index_q1.
            leader = f'{name.split("_")[0]}_{leader}'
        multiplier, offset = float(mimic.get('multiplier', 1)), float(mimic.get('offset', 0))
        rules[name] = (leader, multiplier, offset)
    return rules


class PinocchioDynamics(ABC):
    """What Pinocchio computes, in the coordinates of this package: v = B qd, tau = B^T efforts."""

    _pin: Any
    _model: Any
    _data: Any
    nv: int

    @abstractmethod
    def _converted(self, q: Array, qd: Array) -> tuple[Array, Array, Array]:
        """Return Pinocchio's positions, B and (dB/dt) qd."""

    def inverse_dynamics(
        self, q: Array, qd: Array, qdd: Array,
        wrenches: Mapping[str, Sequence[Wrench]] | None = None,
    ) -> Array:
        """Return tau, with wrenches of the environment on links."""
        positions, B, B_rate_qd = self._converted(q, qd)
        forces = self._forces(positions, wrenches or {})
        accelerations = B @ qdd + B_rate_qd
        tau = self._pin.rnea(self._model, self._data, positions, B @ qd, accelerations, forces)
        efforts: Array = B.T @ tau
        return efforts

    def gravity_torques(self, q: Array) -> Array:
        """Return g(q)."""
        return self.inverse_dynamics(q, *np.zeros((2, self.nv)))

    def bias_torques(self, q: Array, qd: Array) -> Array:
        """Return C(q, qd) qd + g(q)."""
        return self.inverse_dynamics(q, qd, np.zeros(self.nv))

    def mass_matrix(self, q: Array) -> Array:
        """Return M(q), one column a call: composite bodies need joints in depth-first order."""
        rest, g = np.zeros(self.nv), self.gravity_torques(q)
        columns = [self.inverse_dynamics(q, rest, unit) - g for unit in np.eye(self.nv)]
        return np.array(columns).reshape(self.nv, self.nv).T

    def forward_dynamics(self, q: Array, qd: Array, tau: Array) -> Array:
        """Return qdd: by articulated bodies, or by the mass matrix where joints follow others."""
        positions, B, B_rate_qd = self._converted(q, qd)
        if B.shape[0] != B.shape[1]:
            solution = np.linalg.solve(self.mass_matrix(q), tau - self.bias_torques(q, qd))
            return np.asarray(solution, dtype=np.float64)
        efforts = np.linalg.solve(B.T, tau)
        accelerations = self._pin.aba(self._model, self._data, positions, B @ qd, efforts)
        return np.asarray(np.linalg.solve(B, accelerations - B_rate_qd), dtype=np.float64)

    def kinetic_energy(self, q: Array, qd: Array) -> float:
        """Return the kinetic energy; of a root link only where it floats."""
        positions, B, _ = self._converted(q, qd)
        return float(self._pin.computeKineticEnergy(self._model, self._data, positions, B @ qd))

    def jacobian(self, q: Array, link: str) -> Array:
        """Return J of a link, [angular; linear], in its own axes."""
        positions, B, _ = self._converted(q, np.zeros(self.nv))
        J = self._pin.computeFrameJacobian(
            self._model, self._data, positions, self._frame(link), self._pin.LOCAL
        )
        # Pinocchio drops the second axis where there is one joint.
        return _angular_first(np.reshape(J, (6, self._model.nv))) @ B

    def link_motion(self, q: Array, qd: Array, qdd: Array, link: str) -> tuple[Array, Array]:
        """Return spatial velocity and acceleration of a link, [angular; linear], in its axes."""
        pin, frame = self._pin, self._frame(link)
        positions, B, B_rate_qd = self._converted(q, qd)
        pin.forwardKinematics(self._model, self._data, positions, B @ qd, B @ qdd + B_rate_qd)
        velocity, acceleration = (
            _angular_first(np.array(read(self._model, self._data, frame, pin.LOCAL).vector))
            for read in (pin.getFrameVelocity, pin.getFrameAcceleration)
        )
        return velocity, acceleration

    def link_poses(self, q: Array, links: Sequence[str]) -> list[Array]:
        """Return the pose of links in the root link's frame, homogeneous."""
        positions, _, _ = self._converted(q, np.zeros(self.nv))
        self._pin.framesForwardKinematics(self._model, self._data, positions)
        return [self._data.oMf[self._frame(name)].homogeneous for name in links]

    def joint_wrenches(
        self, q: Array, qd: Array, qdd: Array, links: Sequence[str],
        wrenches: Mapping[str, Sequence[Wrench]] | None = None,
    ) -> list[Array]:
        """Return [torque; force] on links at their joints, which move, in the links' axes."""
        self.inverse_dynamics(q, qd, qdd, wrenches)
        forces = [self._data.f[self._joint_of(link)] for link in links]
        return [_angular_first(np.array(force.vector)) for force in forces]

    def _frame(self, name: str) -> int:
        frame: int = self._model.getFrameId(name, self._pin.FrameType.BODY)
        assert frame < self._model.nframes, name
        return frame

    def _joint_of(self, link: str) -> int:
        frame = self._model.frames[self._frame(link)]
        joint: int = frame.parentJoint if hasattr(frame, 'parentJoint') else frame.parent
        return joint

    def _pose(self, frame: str | ReferenceFrame) -> Any:
        """Return where a frame stands in the world, as of the last forward kinematics."""
        if isinstance(frame, str):
            return self._data.oMf[self._frame(frame)]
        if frame is ReferenceFrame.ROOT_LINK:
            return self._root_pose()
        return self._pin.SE3.Identity()

    def _root_pose(self) -> Any:
        return self._pin.SE3.Identity()

    def _forces(self, positions: Array, wrenches: Mapping[str, Sequence[Wrench]]) -> object:
        pin = self._pin
        pin.framesForwardKinematics(self._model, self._data, positions)
        forces = pin.StdVec_Force()
        forces.extend([pin.Force.Zero() for _ in range(self._model.njoints)])
        for name, given in wrenches.items():
            carrier = self._joint_of(name)
            for wrench in given:
                stated_in = self._pose(wrench.frame or name)
                force = stated_in.rotation @ np.array(wrench.force)
                torque = stated_in.rotation @ np.array(wrench.torque)
                point = self._pose(name).translation
                if wrench.point is not None:
                    point = stated_in.act(np.array(wrench.point))
                in_world = pin.Force(force, torque + np.cross(point, force))
                forces[carrier] += self._data.oMi[carrier].actInv(in_world)
        return forces


class Pinocchio(PinocchioDynamics):
    """
    A robot as Pinocchio reads it, joint arrays in the order of ``names``; B is constant.

    Of a floating root link seven positions (quaternion x, y, z, w) and six velocities ([angular;
    linear], in its own axes) stand before those of the joints.
    """

    def __init__(
        self, urdf: str, names: Sequence[str], gravity: ArrayLike = (0.0, 0.0, -9.81), *,
        floating: bool = False,
    ) -> None:
        self._pin = pytest.importorskip('pinocchio')
        root = [self._pin.JointModelFreeFlyer()] if floating else []
        self._model = self._pin.buildModelFromXML(urdf, *root)
        self._model.gravity.linear = np.array(gravity)
        self._data = self._model.createData()
        names_and_joints = zip(self._model.names, self._model.joints, strict=True)
        next(names_and_joints)  # the universe
        self._dofs = [(name, dof) for name, dof in names_and_joints if dof.nv == 1]
        rules = mimic_rules(urdf)
        assert sorted(names) == sorted({name for name, _ in self._dofs} - set(rules))
        self._free = 6 if floating else 0
        self.nv = self._free + len(names)
        # All joint positions are G q + offsets. Pinocchio's free joint is [linear; angular].
        self._G = np.zeros((len(self._dofs), len(names)))
        self._offsets = np.zeros(len(self._dofs))
        self._B = np.zeros((self._model.nv, self.nv))
        self._B[: self._free, : self._free] = np.roll(np.eye(self._free), 3, axis=0)
        for row, (name, dof) in enumerate(self._dofs):
            leader, multiplier, self._offsets[row] = rules.get(name, (name, 1.0, 0.0))
            self._G[row, names.index(leader)] = multiplier
            self._B[dof.idx_v, self._free :] = self._G[row]

    def coriolis_matrix(self, q: Array, qd: Array) -> Array:
        """Return C(q, qd)."""
        positions, B, _ = self._converted(q, qd)
        C = self._pin.computeCoriolisMatrix(self._model, self._data, positions, B @ qd)
        folded: Array = B.T @ C @ B
        return folded

    def inverse_dynamics_derivatives(
        self, q: Array, qd: Array, qdd: Array,
        wrenches: Mapping[str, Sequence[Wrench]] | None = None,
    ) -> list[Array]:
        """Return the derivatives of tau by q, qd, qdd; wrenches are constant in joints' frames."""
        data, (positions, B, _) = self._data, self._converted(q, qd)
        given = (positions, B @ qd, B @ qdd, self._forces(positions, wrenches or {}))
        self._pin.computeRNEADerivatives(self._model, data, *given)
        M = np.triu(data.M) + np.triu(data.M, 1).T
        return [B.T @ of_joints @ B for of_joints in (data.dtau_dq, data.dtau_dv, M)]

    def potential_energy(self, q: Array) -> float:
        """Return the potential energy; of a root link only where it floats."""
        positions, _, _ = self._converted(q, np.zeros(self.nv))
        return float(self._pin.computePotentialEnergy(self._model, self._data, positions))

    def centre_of_mass(self, q: Array) -> Array:
        """Return the centre of mass in the world; without the root link unless it floats."""
        positions, _, _ = self._converted(q, np.zeros(self.nv))
        return np.array(self._pin.centerOfMass(self._model, self._data, positions))

    def inertial_parameters(self, links: Sequence[str]) -> Array:
        """Return phi of what moves with these links, each at its joint; ten numbers a link."""
        parameters = [
            self._model.inertias[self._joint_of(link)].toDynamicParameters() for link in links
        ]
        return np.concatenate([np.zeros(0), *parameters])

    def _converted(self, q: Array, qd: Array) -> tuple[Array, Array, Array]:
        positions = np.zeros(self._model.nq)
        free = len(q) - self._G.shape[1]
        positions[:free] = q[:free]
        joint_positions = self._G @ q[free:] + self._offsets
        for x, (_, dof) in zip(joint_positions, self._dofs, strict=True):
            # A continuous joint is a point on the unit circle.
            where = slice(dof.idx_q, dof.idx_q + dof.nq)
            positions[where] = x if dof.nq == 1 else (np.cos(x), np.sin(x))
        return positions, self._B, np.zeros(self._model.nv)

    def _root_pose(self) -> Any:
        return self._data.oMi[1] if self._free else self._pin.SE3.Identity()


def _angular_first(rows: Array) -> Array:
    return np.concatenate([rows[3:], rows[:3]])
