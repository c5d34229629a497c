# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""Linkages to test with: spatial ones cut at any joint, a four-bar, a palletising arm."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from rnea_ros import RobotModel
from rnea_ros.closed_loops import ClosedLoopModel, LoopJoint
from rnea_ros.dynamics.tree import Placement
from support.models.joint_trees import Part
from support.models.robots import joint, link, robot


def at(*xyz: float) -> Placement:
    """Return the placement of a frame that is not turned."""
    return Placement.from_xyz_rpy(xyz, (0.0, 0.0, 0.0))


@dataclass(frozen=True)
class Pair:
    """A joint between bodies a and b; point and axis in the world as drawn (closed)."""

    name: str
    kind: str
    a: str
    b: str
    point: ArrayLike
    axis: ArrayLike = (0.0, 0.0, 1.0)


def cut(pairs: Sequence[Pair], name: str) -> tuple[list[Part], LoopJoint]:
    """Return the spanning tree without one joint, and this joint; bodies depend on no cut."""
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

TURNING_CYLINDER = _crank_and_coupler(
    Pair('bore', 'cylindrical', 'half', 'barrel', (0.35, 0.06, 0.2), (1.0, 0.2, 0.8)),
    Pair('pin_1', 'revolute', 'barrel', 'small_cross', END, (0.2, 1.0, 0.0)),
    Pair('pin_2', 'revolute', 'small_cross', 'base', END, (0.0, 0.1, 1.0)),
)
"""A hydraulic cylinder between universal joints; the rod turns in the barrel."""


RISE, REACH, CRANK = 1.0, 1.2, 0.3
"""Lengths of lower arm, upper arm and crank of the palletising arm, m."""

SHOULDER = (0.2, 0.0, 0.3)
PLATE, WRIST = (-0.2, 0.05, 0.1), (0.0, -0.05, 0.15)
"""Ends of the rods that hold the tool level, from shoulder and elbow, and from elbow and wrist."""

MOTORS = ('axis_1', 'axis_2', 'axis_3', 'axis_4')


def palletiser(*, loops: bool) -> str:
    """Return the URDF of a palletising arm, with mimic joints or as the tree of its loops."""
    def follows(name: str, leader: str, parent: str, child: str, sign: int, xyz: ArrayLike) -> str:
        more = '' if loops else f'<mimic joint="{leader}" multiplier="{sign}"/>'
        axis = (0, 1, 0)
        return joint(name, 'continuous', parent, child, xyz=xyz, axis=axis, more=more)

    # Axis 2 turns the lower arm. Axis 3, coaxial, turns a crank and through a rod the upper arm.
    # Two rods more hold plate and flange level. ``mimic`` has one leader, so that a massless pin
    # follows axis 3, and the rod on it axis 2.
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
