# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""Linkages to test with: spatial ones cut at any joint, here and in MuJoCo; a palletising arm."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
import pytest

from rnea_ros import RobotModel
from rnea_ros.closed_loops import ClosedLoopModel, LoopJoint
from rnea_ros.dynamics.tree import Placement
from support.models.joint_trees import MuJoCoTree, Part, places
from support.models.oracles import Array
from support.models.robots import joint, link, robot

GRAVITY = (1.0, -2.0, -9.0)


def at(*xyz: float) -> Placement:
    """Return the placement of a frame that is not turned."""
    return Placement.from_xyz_rpy(xyz, (0.0, 0.0, 0.0))


@dataclass(frozen=True)
class Pair:
    """
    A joint of a linkage between bodies a and b.

    :param point: in the world, in the drawn configuration, which is closed
    :param axis: in the world, in the drawn configuration
    """

    name: str
    kind: str
    a: str
    b: str
    point: ArrayLike
    axis: ArrayLike = (0.0, 0.0, 1.0)


def cut(pairs: Sequence[Pair], name: str) -> tuple[list[Part], LoopJoint]:
    """
    Return the spanning tree without one joint, and this joint.

    The axes of all links are the world's in the drawn configuration. Mass and inertia of a body
    follow from its name, whatever the cut.
    """
    drawn = {pair.name: np.array(pair.point, dtype=np.float64) for pair in pairs}
    origins = {'base': np.zeros(3)}
    parts: list[Part] = []
    open_pairs = [pair for pair in pairs if pair.name != name]
    while open_pairs:
        pair = next(p for p in open_pairs if p.a in origins or p.b in origins)
        open_pairs.remove(pair)
        parent, child = (pair.a, pair.b) if pair.a in origins else (pair.b, pair.a)
        origins[child] = drawn[pair.name]
        numbers = np.random.default_rng(list(child.encode()))
        centre = np.mean([drawn[p.name] for p in pairs if child in (p.a, p.b)], axis=0)
        centre = centre + 0.05 * numbers.normal(size=3)
        size = 0.1 * numbers.normal(size=(3, 3))
        spread, mass = size @ size.T, numbers.uniform(0.5, 2.0)
        axis = np.array(pair.axis, dtype=np.float64)
        parts.append(Part(
            child, parent, pair.kind, np.eye(3), origins[child] - origins[parent],
            axis / np.linalg.norm(axis), 0.0, mass, centre - origins[child],
            mass * (np.trace(spread) * np.eye(3) - spread),
        ))
    pair = next(pair for pair in pairs if pair.name == name)
    a, b = (at(*(drawn[name] - origins[body])) for body in (pair.a, pair.b))
    return parts, LoopJoint(name, pair.kind, pair.a, pair.b, a, b, pair.axis)


OPEN, CROSSED = (0.7, -0.3, 1.0), (0.7, -1.7, -1.7)
"""Guesses of crank, coupler and rocker angles for the two assembly modes, rad."""

LENGTHS = (0.04, 0.12, 0.08, 0.10)
"""Crank a, coupler b, rocker c and ground d, m."""


def bar(name: str, length: float, mass: float) -> str:
    """Return a slender rod along x."""
    moment = mass * length**2 / 12.0
    return link(name, mass, (0.5 * length, 0.0, 0.0), (0.0, 0.0, 0.0, moment, 0.0, moment))


def four_bar(
    lengths: tuple[float, ...], masses: tuple[float, ...], guess: tuple[float, ...],
    motor: str = 'crank',
) -> ClosedLoopModel:
    """Return a four-bar of slender rods in the vertical plane, cut between coupler and rocker."""
    (a, b, c, d), up = lengths, (0.0, -1.0, 0.0)
    tree = robot(
        link('ground'), *map(bar, ('crank', 'coupler', 'rocker'), (a, b, c), masses),
        joint('crank', 'continuous', 'ground', 'crank', axis=up),
        joint('coupler', 'continuous', 'crank', 'coupler', axis=up, xyz=(a, 0, 0)),
        joint('rocker', 'continuous', 'ground', 'rocker', axis=up, xyz=(d, 0, 0)),
    )
    pin = LoopJoint('pin', 'revolute', 'coupler', 'rocker', at(b, 0, 0), at(c, 0, 0), up)
    return ClosedLoopModel(RobotModel.from_urdf(tree), [pin], [motor], guess)


def _crank_and_coupler(*last: Pair) -> tuple[Pair, ...]:
    """Return a chain that ends with the fixed joint between two halves of the coupler."""
    tip = (0.1, 0.02, 0.0)
    return (
        Pair('motor', 'revolute', 'base', 'crank', (0.0, 0.0, 0.0), (0.1, 0.2, 1.0)),
        Pair('first', 'revolute', 'crank', 'cross', tip, (0.0, 0.1, 1.0)),
        Pair('second', 'revolute', 'cross', 'coupler', tip, (0.3, 1.0, 0.0)),
        Pair('seam', 'fixed', 'coupler', 'half', (0.3, 0.05, 0.15)), *last,
    )


END = (0.45, 0.1, 0.3)

ROCKER = _crank_and_coupler(
    Pair('ball', 'spherical', 'half', 'rocker', END),
    Pair('hinge', 'revolute', 'rocker', 'base', (0.5, 0.1, 0.0), (0.1, 1.0, 0.2)),
)
"""A spatial four-bar with a universal joint and a ball joint."""

SLIDER = _crank_and_coupler(
    Pair('ball', 'spherical', 'half', 'slider', END),
    Pair('rail', 'prismatic', 'slider', 'base', END, (1.0, 0.2, 0.1)),
)
"""A spatial slider-crank."""

CYLINDER = _crank_and_coupler(
    Pair('rod', 'prismatic', 'half', 'barrel', (0.35, 0.06, 0.2), (1.0, 0.2, 0.8)),
    Pair('ball', 'spherical', 'barrel', 'base', END),
)
"""A hydraulic cylinder that swings with the crank."""

TURNING_CYLINDER = _crank_and_coupler(
    Pair('bore', 'cylindrical', 'half', 'barrel', (0.35, 0.06, 0.2), (1.0, 0.2, 0.8)),
    Pair('pin_1', 'revolute', 'barrel', 'small_cross', END, (0.2, 1.0, 0.0)),
    Pair('pin_2', 'revolute', 'small_cross', 'base', END, (0.0, 0.1, 1.0)),
)
"""The same with universal joints at both ends; the rod turns in the barrel."""


class MuJoCoLinkage(MuJoCoTree):
    """
    A tree with loop joints in MuJoCo, by its equality constraints between sites.

    A ball joint is ``connect``, a fixed joint ``weld``, a hinge two ``connect`` on its axis. Of
    MuJoCo come M, C and K; the test solves them, since MuJoCo's own solver keeps constraints
    like springs, and leaves out the part of k that depends on velocities.
    """

    def __init__(
        self, parts: Sequence[Part], loops: Sequence[LoopJoint], gravity: ArrayLike = GRAVITY
    ) -> None:
        self._mujoco = mujoco = pytest.importorskip('mujoco')
        self._parts = parts
        spec = mujoco.MjSpec()
        spec.option.gravity = gravity
        spec.option.jacobian = mujoco.mjtJacobian.mjJAC_DENSE
        bodies = {'base': spec.worldbody}
        for part in parts:
            bodies[part.name] = self._add_body(bodies[part.parent], part)
        for loop in loops:
            offsets = (0.0, 0.2) if str(loop.type).endswith('REVOLUTE') else (0.0,)
            welded = str(loop.type).endswith('FIXED')
            for i, offset in enumerate(offsets):
                sites = [f'{loop.name}_{i}_{end}' for end in (1, 2)]
                frames = (loop.placement_1, loop.placement_2)
                links = (loop.link_1, loop.link_2)
                for site, body, frame in zip(sites, links, frames, strict=True):
                    point = frame.translation + offset * np.asarray(loop.axis)
                    bodies[body].add_site(name=site, pos=point)
                spec.add_equality(
                    type=mujoco.mjtEq.mjEQ_WELD if welded else mujoco.mjtEq.mjEQ_CONNECT,
                    objtype=mujoco.mjtObj.mjOBJ_SITE, name1=sites[0], name2=sites[1],
                )
        self._model = spec.compile()
        self._data = mujoco.MjData(self._model)

    def gap(self, q: Array) -> float:
        """Return the widest gap of a loop, rad or m."""
        self._forward(q, np.zeros(self._model.nv))
        return float(np.abs(self._data.efc_pos).max())

    def equation(self, q: Array, qd: Array) -> tuple[Array, Array, Array, Array]:
        """Return M, C, K and k of M qdd + C = tau + K^T lambda, K qdd = k."""
        nv, h = self._model.nv, 1e-5
        K_before, K, K_after = (self._matrix(q, qd, t) for t in (-h, 0.0, h))
        k = -(K_after - K_before) @ qd / (2.0 * h)
        order = self._forward(q, qd)
        M = np.zeros((nv, nv))
        for column, unit in zip(M, np.eye(nv), strict=True):
            self._mujoco.mj_mulM(self._model, self._data, column, unit)
        return M[np.ix_(order, order)], np.array(self._data.qfrc_bias)[order], K, k

    def _matrix(self, q: Array, qd: Array, t: float) -> Array:
        """Return K after a time at a velocity."""
        order = self._forward(q, qd)
        self._mujoco.mj_integratePos(self._model, self._data.qpos, self._data.qvel, t)
        self._mujoco.mj_forward(self._model, self._data)
        return np.array(self._data.efc_J).reshape(-1, self._model.nv)[:, order]

    def _forward(self, q: Array, qd: Array) -> Array:
        """Set a state, and return MuJoCo's place of each of our coordinates."""
        order = np.zeros(len(qd), dtype=int)
        for part, where_q, where_qd in places(self._parts):
            first = self._model.joint(f'{part.name}_0')
            i, j = int(first.qposadr[0]), int(first.dofadr[0])
            own = q[where_q]
            if part.kind == 'spherical':
                own = np.roll(own, 1)
            self._data.qpos[i : i + len(own)] = own
            order[where_qd] = j + np.arange(where_qd.stop - where_qd.start)
        self._data.qvel[order] = qd
        self._mujoco.mj_forward(self._model, self._data)
        return order


RISE, REACH, CRANK = 1.0, 1.2, 0.3
"""Lengths of lower arm, upper arm and crank of the palletising arm, m."""

SHOULDER = (0.2, 0.0, 0.3)
PLATE, WRIST = (-0.2, 0.05, 0.1), (0.0, -0.05, 0.15)
"""Ends of the rods that hold the tool level, from shoulder and elbow, and from elbow and wrist."""

MOTORS = ('axis_1', 'axis_2', 'axis_3', 'axis_4')


def palletiser(*, loops: bool) -> str:
    """
    Return the URDF of a palletising arm; its motors are :data:`MOTORS`.

    Axis 2 turns the lower arm. Axis 3, coaxial, turns a crank and through a rod the upper arm. Two
    rods more hold the plate at the elbow and the flange level. At zero the lower arm is upright
    and the upper arm level; all parallelograms are then closed.

    The rod of axis 3 is parallel to the lower arm and carried by the crank: its angle to the crank
    is that of axis 2 less that of axis 3. ``mimic`` has one leader, so a pin without mass follows
    axis 3 and the rod axis 2.

    :param loops: the spanning tree without the three loop joints, instead of ``mimic`` joints
    """

    def follows(name: str, leader: str, parent: str, child: str, sign: int, xyz: ArrayLike) -> str:
        more = '' if loops else f'<mimic joint="{leader}" multiplier="{sign}"/>'
        axis = (0, 1, 0)
        return joint(name, 'continuous', parent, child, xyz=xyz, axis=axis, more=more)

    foot = np.add(SHOULDER, PLATE)
    tip = (-CRANK, 0.1, 0.0)
    pin = joint('pin', 'fixed', 'crank', 'pin', xyz=tip)
    if not loops:
        pin = follows('pin', 'axis_3', 'crank', 'pin', -1, tip)
    return robot(
        link('base'), link('carousel', 200.0, (0.05, 0.0, 0.1), (8.0, 0.0, 0.1, 9.0, 0.0, 7.0)),
        link('lower_arm', 80.0, (0.02, 0.01, 0.45), (9.0, 0.1, 0.2, 8.5, 0.0, 1.0)),
        link('plate', 12.0, (-0.05, 0.0, 0.06), (0.1, 0.0, 0.0, 0.15, 0.0, 0.1)),
        link('upper_arm', 60.0, (0.35, 0.0, 0.03), (0.8, 0.0, 0.1, 7.0, 0.0, 7.0)),
        link('crank', 18.0, (-0.12, 0.02, 0.0), (0.1, 0.0, 0.0, 0.3, 0.0, 0.3)), link('pin'),
        link('drive_rod', 9.0, (0.0, 0.0, 0.5), (0.8, 0.0, 0.0, 0.8, 0.0, 0.01)),
        link('plate_rod', 7.0, (0.0, 0.01, 0.48), (0.6, 0.0, 0.0, 0.6, 0.0, 0.01)),
        link('wrist_rod', 6.0, (0.62, 0.0, 0.0), (0.01, 0.0, 0.0, 0.7, 0.0, 0.7)),
        link('flange', 15.0, (0.05, 0.0, 0.02), (0.1, 0.0, 0.01, 0.15, 0.0, 0.1)),
        link('tool', 40.0, (0.03, -0.02, -0.25), (1.5, 0.0, 0.1, 1.6, 0.0, 0.9)),
        joint('axis_1', 'continuous', 'base', 'carousel', xyz=(0, 0, 0.4)),
        joint('axis_2', 'continuous', 'carousel', 'lower_arm', xyz=SHOULDER, axis=(0, 1, 0)),
        joint('axis_3', 'continuous', 'carousel', 'crank', xyz=SHOULDER, axis=(0, 1, 0)),
        follows('plate', 'axis_2', 'lower_arm', 'plate', -1, (0, 0, RISE)),
        follows('elbow', 'axis_3', 'plate', 'upper_arm', 1, (0, 0, 0)),
        follows('wrist', 'axis_3', 'upper_arm', 'flange', -1, (REACH, 0, 0)), pin,
        follows('drive_rod', 'axis_2', 'pin', 'drive_rod', 1, (0, 0, 0)),
        follows('plate_rod', 'axis_2', 'carousel', 'plate_rod', 1, foot),
        follows('wrist_rod', 'axis_3', 'plate', 'wrist_rod', 1, WRIST),
        joint('axis_4', 'continuous', 'flange', 'tool', xyz=(0.2, 0, -0.1), axis=(0, 0, -1)),
        name='palletiser',
    )


PALLETISER_LOOPS = (
    LoopJoint(
        'drive', 'revolute', 'drive_rod', 'upper_arm', at(0, 0, RISE), at(-CRANK, 0.1, 0),
        axis=(0, 1, 0),
    ),
    LoopJoint('level', 'revolute', 'plate_rod', 'plate', at(0, 0, RISE), at(*PLATE), (0, 1, 0)),
    LoopJoint('wrist', 'revolute', 'wrist_rod', 'flange', at(REACH, 0, 0), at(*WRIST), (0, 1, 0)),
)


def palletiser_with_loops() -> ClosedLoopModel:
    """Return the palletising arm with its real loops."""
    tree = RobotModel.from_urdf(palletiser(loops=True))
    return ClosedLoopModel(tree, PALLETISER_LOOPS, MOTORS)
