# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""Robots to test with: the shipped ones, vendors' where installed, small ones as URDF text."""

from functools import lru_cache
from importlib import metadata
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
import pytest

from rnea_ros import RobotModel
from rnea_ros.urdf import RobotDescription, parse_urdf, read_urdf

ROOT = Path(__file__).resolve().parents[3]

CONFIG = ROOT / 'config'
OF_OTHER_NODES = {*CONFIG.glob('*_controller*.yaml'), CONFIG / 'teleoperation.yaml'}
PARAMETER_FILES = sorted({*CONFIG.rglob('*.yaml')} - OF_OTHER_NODES)
"""Files of the node's parameters."""
SHIPPED = tuple(ROOT / 'urdf' / name for name in ('panda.urdf', 'panda_arm.urdf', 'ur5e.urdf'))

LIMIT = '<limit lower="-3" upper="3" velocity="2" effort="100"/>'
SPHERE = (0.1, 0.0, 0.0, 0.1, 0.0, 0.1)


def load(source: str | Path, gravity: ArrayLike = (0.0, 0.0, -9.81)) -> RobotModel:
    """Return a new model, without the warnings that vendors' inertias deserve."""
    return RobotModel.from_description(parsed(read_urdf(source)), gravity=gravity)


@lru_cache(maxsize=1000)
def parsed(urdf: str) -> RobotDescription:
    """Parse URDF text, each text once; a description never changes."""
    return parse_urdf(urdf)


def description(model: RobotModel) -> RobotDescription:
    """Return what a model was built from, which is no tree."""
    assert model.description is not None
    return model.description


def numbers(values: ArrayLike) -> str:
    """Return floats as a URDF attribute, to the last digit."""
    return ' '.join(repr(float(value)) for value in np.ravel(values))


def robot(*elements: str, name: str = 'robot') -> str:
    """Return a URDF."""
    return f'<robot name="{name}">{"".join(elements)}</robot>'


def link(
    name: str, mass: float | None = None, com: ArrayLike = (0.0, 0.0, 0.0),
    inertia: tuple[float, ...] = SPHERE, rpy: ArrayLike = (0.0, 0.0, 0.0),
) -> str:
    """Return a link, with no inertial element where no mass is given."""
    if mass is None:
        return f'<link name="{name}"/>'
    names = ('ixx', 'ixy', 'ixz', 'iyy', 'iyz', 'izz')
    moments = ' '.join(
        f'{key}="{numbers(value)}"' for key, value in zip(names, inertia, strict=True)
    )
    return (
        f'<link name="{name}"><inertial><origin xyz="{numbers(com)}" rpy="{numbers(rpy)}"/>'
        f'<mass value="{numbers(mass)}"/><inertia {moments}/></inertial></link>'
    )


def joint(
    name: str, kind: str, parent: str, child: str, *, xyz: ArrayLike = (0.0, 0.0, 0.0),
    rpy: ArrayLike = (0.0, 0.0, 0.0), axis: ArrayLike = (0.0, 0.0, 1.0), more: str = '',
) -> str:
    """Return a joint, with a limit where its type asks for one."""
    motion = '' if kind == 'fixed' else f'<axis xyz="{numbers(axis)}"/>'
    limit = LIMIT if kind in ('revolute', 'prismatic') else ''
    return (
        f'<joint name="{name}" type="{kind}"><parent link="{parent}"/><child link="{child}"/>'
        f'<origin xyz="{numbers(xyz)}" rpy="{numbers(rpy)}"/>{motion}{limit}{more}</joint>'
    )


ARM = robot(link('base'), link('arm', 1.0), joint('shoulder', 'revolute', 'base', 'arm'))
"""A robot of one joint."""

PENDULUM = robot(
    link('base'), link('arm', 1.0, (0.5, 0.0, 0.0)),
    joint('pivot', 'continuous', 'base', 'arm', axis=(0, 1, 0)),
)
"""A link that swings about a level axis."""

ROTOR = robot(
    link('base'), link('arm', 1.0), link('tool', 2.0, (0.3, 0.0, 0.0)),
    joint('spin', 'continuous', 'base', 'arm'),
    joint('mount', 'fixed', 'arm', 'tool', xyz=(0.2, 0, 0)),
)
"""A tool on an arm that spins about the vertical."""


def vendor_robots(*names: str) -> list[Any]:
    """Return pytest parameters: robots of example-robot-data, of these names or all."""
    paths = [path for path in _vendor_paths() if path.name != 'ur3.urdf']  # it is empty
    if names:
        paths = [path for path in paths if path.stem in names]
    if not paths:
        return [pytest.param(None, id='none', marks=pytest.mark.skip(reason=NO_VENDOR_ROBOTS))]
    return [pytest.param(path, id=f'{_folder(path)}/{path.stem}') for path in paths]


NO_VENDOR_ROBOTS = 'the vendor robots (pip install example-robot-data) are not installed'


def _vendor_paths() -> list[Path]:
    try:
        files = metadata.files('example-robot-data') or []
    except metadata.PackageNotFoundError:
        return []
    return sorted(Path(str(file.locate())) for file in files if file.suffix == '.urdf')


def _folder(path: Path) -> str:
    return path.parts[path.parts.index('robots') + 1]
