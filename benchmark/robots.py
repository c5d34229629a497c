# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""The robots that every contender computes, each from the same URDF text."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from importlib import metadata
from pathlib import Path
import re
from typing import TypeAlias
import warnings

import numpy as np
from numpy.typing import NDArray

from rnea_ros import RobotModel, UrdfWarning

from . import ROOT

Array: TypeAlias = NDArray[np.float64]
State: TypeAlias = tuple[Array, Array, Array]

STATES = 8  # random states in a race, one a round


@dataclass(frozen=True)
class Robot:
    """A robot to compute: its name in tables, and the text of its URDF."""

    name: str
    urdf: str

    @cached_property
    def model(self) -> RobotModel:
        """Our model of it, without warnings of the vendor's inertias."""
        with warnings.catch_warnings():
            warnings.simplefilter('ignore', UrdfWarning)
            return RobotModel.from_urdf(self.urdf)

    @property
    def title(self) -> str:
        """Name and number of joints."""
        return f'{self.name}, {self.model.nv} joints'

    @property
    def can_specialise(self) -> bool:
        """Whether it is small enough for specialised kernels."""
        return self.model.nv <= 20

    def states(self) -> list[State]:
        """Return q, qd and qdd of random states, shape (n,) each; the third may be efforts."""
        return [(q, qd, qdd) for q, qd, qdd in zip(*self.samples(STATES), strict=True)]

    def samples(self, count: int) -> State:
        """Return q, qd and qdd of random states, shape (count, n) each."""
        Q, QD, QDD = np.random.default_rng(0).normal(size=(3, count, self.model.nv))
        return Q, QD, QDD


def robots_to_compare() -> list[Robot]:
    """Return two arms, a humanoid where it is installed, and a large tree."""
    ur5e, panda = (
        (ROOT / 'urdf' / file).read_text(encoding='utf-8')
        for file in ('ur5e.urdf', 'panda_arm.urdf')
    )
    return [
        Robot('UR5e', ur5e), Robot('Panda arm', panda), *_humanoid(),
        Robot('16 Panda arms', _beside(panda, 16)),
    ]


def _humanoid() -> list[Robot]:
    """Return TALOS, 32 joints, of the package example-robot-data; nothing without it."""
    try:
        files = metadata.files('example-robot-data') or []
    except metadata.PackageNotFoundError:
        return []
    return [
        Robot('TALOS', Path(str(file.locate())).read_text(encoding='utf-8'))
        for file in files if file.name == 'talos_reduced.urdf'
    ]


def _beside(urdf: str, count: int) -> str:
    """Return as many copies of a robot on one root link, in one URDF."""
    parts = ['<link name="floor"/>']
    root = RobotModel.from_urdf(urdf).link_names[0]
    _, body = re.split('<robot[^>]*>', urdf)
    for k in range(count):
        parts.append(re.sub('(name|link)="', rf'\g<0>arm{k}_', body.replace('</robot>', '')))
        parts.append(
            f'<joint name="mount_{k}" type="fixed"><parent link="floor"/>'
            f'<child link="arm{k}_{root}"/></joint>'
        )
    return f'<robot name="arms">{"".join(parts)}</robot>'
