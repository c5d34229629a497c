# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""The robots that every contender computes, each from the same URDF text."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from importlib import metadata
from pathlib import Path
from typing import TypeAlias
import warnings

import numpy as np
from numpy.typing import NDArray

from rnea_ros import RobotModel, UrdfWarning
from rnea_ros.dynamics import can_specialise
from rnea_ros.errors import SpecialisationWarning

Array: TypeAlias = NDArray[np.float64]
State: TypeAlias = tuple[Array, Array, Array]

ROOT = Path(__file__).resolve().parents[1]

STATES = 8
"""Random states that a robot is timed at, in turn."""


@dataclass(frozen=True)
class Robot:
    """
    A robot to compute.

    :param name: what tables call it
    :param urdf: XML text
    """

    name: str
    urdf: str

    @cached_property
    def model(self) -> RobotModel:
        """Our model of it, without the warnings that vendors' inertias deserve."""
        with warnings.catch_warnings():
            warnings.simplefilter('ignore', UrdfWarning)
            return RobotModel.from_urdf(self.urdf)

    @property
    def joints(self) -> int:
        """The number of joints."""
        return self.model.nv

    @property
    def is_chain(self) -> bool:
        """Whether each body hangs on the one before it."""
        parents = self.model.tree.bodies['parent'][1:]
        return bool((parents == np.arange(len(parents))).all())

    @cached_property
    def can_specialise(self) -> bool:
        """Whether it can have specialised kernels."""
        with warnings.catch_warnings():
            warnings.simplefilter('ignore', SpecialisationWarning)
            return can_specialise(self.model.tree.bodies)

    def states(self, count: int = STATES) -> list[State]:
        """Return q, qd and qdd of random states, shape (n,) each; the third may be efforts."""
        numbers = np.random.default_rng(self.joints).normal(size=(count, 3, self.joints))
        return [(q, qd, qdd) for q, qd, qdd in numbers]

    def samples(self, count: int) -> State:
        """Return q, qd and qdd of random states, shape (count, n) each."""
        Q, QD, QDD = np.random.default_rng(self.joints).normal(size=(3, count, self.joints))
        return Q, QD, QDD


def robots_to_compare() -> list[Robot]:
    """Return two arms, a humanoid where it is installed, and a large tree."""
    return [
        Robot('UR5e', (ROOT / 'urdf' / 'ur5e.urdf').read_text(encoding='utf-8')),
        Robot('Panda arm', (ROOT / 'urdf' / 'panda_arm.urdf').read_text(encoding='utf-8')),
        _humanoid() or tree(32),
        tree(120),
    ]


def _humanoid() -> Robot | None:
    """Return TALOS, 32 joints, as the package example-robot-data has it."""
    try:
        files = metadata.files('example-robot-data') or []
    except metadata.PackageNotFoundError:
        return None
    for file in files:
        if file.name == 'talos_reduced.urdf':
            return Robot('TALOS', Path(str(file.locate())).read_text(encoding='utf-8'))
    return None


def tree(joints: int) -> Robot:
    """Return a random tree of bodies, each on one of the ten before it."""
    rng = np.random.default_rng(joints)
    parents = [0, *(int(rng.integers(max(0, i - 9), i + 1)) for i in range(1, joints))]
    return Robot('random tree', _urdf(parents, rng))


def chain(joints: int) -> Robot:
    """Return a random chain of bodies."""
    return Robot('random chain', _urdf(list(range(joints)), np.random.default_rng(joints)))


def _urdf(parents: list[int], rng: np.random.Generator) -> str:
    """
    Return a robot of revolute joints about x, y or z, for which every library is at its fastest.

    :param parents: the number of the link that the joint of link 1, 2, ... hangs on; 0 is the root
    """
    elements = ['<link name="link_0"/>']
    for child, parent in enumerate(parents, start=1):
        axis = np.eye(3)[rng.integers(3)]
        # Of a box, whose moments about its centre are those of a rigid body.
        mass, (a, b, c) = rng.uniform(0.5, 2.0), rng.uniform(0.1, 0.3, 3) ** 2
        moments = mass / 12.0 * np.array([b + c, a + c, a + b])
        diagonal = ' '.join(
            f'{name}="{moment!r}"'
            for name, moment in zip(('ixx', 'iyy', 'izz'), moments.tolist(), strict=True)
        )
        elements.append(
            f'<link name="link_{child}"><inertial>'
            f'<origin xyz="{_numbers(rng.normal(scale=0.05, size=3))}"/><mass value="{mass!r}"/>'
            f'<inertia {diagonal} ixy="0" ixz="0" iyz="0"/></inertial></link>'
        )
        elements.append(
            f'<joint name="joint_{child}" type="revolute">'
            f'<parent link="link_{parent}"/><child link="link_{child}"/>'
            f'<origin xyz="{_numbers(rng.normal(scale=0.1, size=3))}"'
            f' rpy="{_numbers(rng.normal(size=3))}"/><axis xyz="{_numbers(axis)}"/>'
            '<limit lower="-3" upper="3" velocity="3" effort="100"/></joint>'
        )
    return f'<robot name="random">{"".join(elements)}</robot>'


def _numbers(values: Array) -> str:
    """Return floats as a URDF attribute, to the last digit."""
    return ' '.join(repr(value) for value in values.tolist())
