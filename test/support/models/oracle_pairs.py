# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""A model and what it is compared with, made of the same URDF text."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path
from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike
import pytest

from rnea_ros import RobotModel
from rnea_ros.urdf import Inertial
from support.models.oracles import Array, Pinocchio, random_tree
from support.models.robots import SHIPPED, parsed

STANDARD_GRAVITY = (0.0, 0.0, -9.81)

RANDOM_TREES = [range(20), range(20, 40)]
"""Seeds of random trees, as many at a time as one test looks at."""

STEP = 1e-6
"""Of central differences: truncation and rounding both stay near 1e-9."""

Motion: TypeAlias = tuple[Array, Array, Array]


@dataclass(frozen=True)
class Pair:
    """One robot, twice; gravity is in the frame of the root link, or of the world if it floats."""

    label: str
    urdf: str
    gravity: tuple[float, ...] = STANDARD_GRAVITY
    floating: bool = False

    @cached_property
    def model(self) -> RobotModel:
        """The model under test."""
        return RobotModel.from_description(
            parsed(self.urdf), floating_base=self.floating, gravity=self.gravity
        )

    @cached_property
    def pinocchio(self) -> Pinocchio:
        """The same robot as Pinocchio reads it."""
        return self._pinocchio(floating=self.floating)

    @cached_property
    def free_pinocchio(self) -> Pinocchio:
        """The same robot as Pinocchio reads it, its root link free."""
        return self._pinocchio(floating=True)

    def motion(self, seed: int) -> Motion:
        """Return q, qd and qdd."""
        return random_motion(self.model, seed)

    def _pinocchio(self, *, floating: bool) -> Pinocchio:
        names = self.model.joint_names[int(self.floating) :]
        return Pinocchio(self.urdf, names, self.gravity, floating=floating)


SHIPPED_PAIRS = [
    pytest.param(Pair(path.stem, path.read_text(encoding='utf-8')), id=path.stem)
    for path in SHIPPED
]

SOURCES = {
    **{path.stem: path.read_text(encoding='utf-8') for path in (SHIPPED[0], SHIPPED[2])},
    # Branches, slides, mimic joints, links without inertia, fixed links in between
    **{f'random_{seed}': random_tree(seed) for seed in (3, 19, 53)},
}
FLOATING = ('panda', 'ur5e', 'random_3', 'random_41')

PAIRS = {
    f'{label}-{"floating" if floating else "fixed"}': Pair(label, urdf, floating=floating)
    for label, urdf in {
        **SOURCES, 'random_41': random_tree(41),  # without mimic joints
    }.items()
    for floating in (False, True) if label in FLOATING or not floating
}


def random_motion(model: RobotModel, seed: int) -> Motion:
    """Return q, with unit quaternions, qd and qdd."""
    rng = np.random.default_rng(seed)
    qd, qdd = rng.normal(size=(2, model.nv))
    return model.integrate(model.neutral_position, rng.normal(size=model.nv), 1.0), qd, qdd


def moments_of(inertial: Inertial) -> Array:
    """Return the rotational inertia about the centre of mass, in the link's axes, shape (3, 3)."""
    # R = Rz(yaw) Ry(pitch) Rx(roll)
    (cr, cp, cy), (sr, sp, sy) = np.cos(inertial.origin.rpy), np.sin(inertial.origin.rpy)
    Rx = np.array([[1.0, 0.0, 0.0], [0.0, cr, -sr], [0.0, sr, cr]])
    Ry = np.array([[cp, 0.0, sp], [0.0, 1.0, 0.0], [-sp, 0.0, cp]])
    Rz = np.array([[cy, -sy, 0.0], [sy, cy, 0.0], [0.0, 0.0, 1.0]])
    R = Rz @ Ry @ Rx
    ixx, ixy, ixz, iyy, iyz, izz = inertial.inertia
    moments: Array = R @ np.array([[ixx, ixy, ixz], [ixy, iyy, iyz], [ixz, iyz, izz]]) @ R.T
    return moments


def along(
    model: RobotModel, function: Callable[[Array], ArrayLike], q: Array, velocity: Array
) -> Array:
    """Return the rate of a function of q where joints move at a velocity."""
    return rate(lambda t: function(model.integrate(q, velocity, t)))


def rate(function: Callable[[float], ArrayLike]) -> Array:
    """Return the rate of a function of time at time 0, by central differences."""
    ahead, behind = np.asarray(function(STEP)), np.asarray(function(-STEP))
    slope: Array = (ahead - behind) / (2.0 * STEP)
    return slope


@cache
def vendor_pair(path: Path, *, floating: bool = False) -> Pair:
    """Return a vendor's robot."""
    urdf = path.read_text(encoding='utf-8')
    if floating:
        # Five have a fixed joint of this name, where no floating base was thought of.
        urdf = urdf.replace('"floating_base"', '"mounting_base"')
    return Pair(path.stem, urdf, floating=floating)


@cache
def random_pair(seed: int, *, floating: bool = False) -> Pair:
    """Return a random robot under a random gravity."""
    gravity = tuple(np.random.default_rng(seed).normal(scale=10.0, size=3).tolist())
    return Pair(f'random_tree({seed})', random_tree(seed), gravity, floating)
