# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""The arm of the demo: what the node knows about it, and what the demo does with it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING
from xml.etree import ElementTree

import numpy as np

from ...drawing import add_grid, save, show_windows
from ...errors import RneaError
from ...resources import share_path
from ...robot import RobotModel
from ...urdf import parse_urdf, parse_xml, read_urdf
from ..joint_roles import USUAL, JointRoles, start_position
from .plan import DemoPlan, Planner, known_efforts, slides

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

ROBOTS = ('panda', 'panda_arm', 'ur5e')  # that come with the package
SPARE_EFFORT, SPARE_VELOCITY = 3.0, 2.0  # unknown limits, by what the motion needs


class DemoError(RneaError):
    """The demo cannot continue."""


@dataclass(frozen=True)
class DemoArm:
    """An arm: what the node knows about it, and the plan of its motion."""

    urdf: str  # of the node's model, with effort and velocity limits, without friction
    model: RobotModel
    joints: tuple[str, ...]
    plan: DemoPlan
    shipped: bool  # with the package
    remarks: tuple[str, ...]  # sentences for the user

    @property
    def unit(self) -> str:
        """Thousandths of the joints' units."""
        sliding = slides(self.model, self.joints)
        return 'mm' if sliding.all() else 'mrad or mm' if sliding.any() else 'mrad'

    @classmethod
    def load(cls, robot: str, urdf: str | None = None, seconds: float = 10.0) -> DemoArm:
        """Return the arm of a shipped robot, or of a URDF file, and a motion of a duration, s."""
        text = read_urdf(Path(urdf).resolve() if urdf else share_path(f'urdf/{robot}.urdf'))
        description = parse_urdf(text)
        # A hand has its own controller; the joints of the arms have usual positions.
        arm = None if urdf else tuple(name for name in description.joints if name in USUAL)
        roles = JointRoles.assign(description, arm)
        joints = tuple(joint.name for joint in roles.commanded)
        usual = np.array([start_position(joint) for joint in roles.commanded])
        model = RobotModel.from_description(description)
        plan = Planner(model, joints, usual, seconds).plan()
        limits, remarks = _missing_limits(model, joints, plan)
        if model.friction.any() or model.damping.any():
            remarks.append("the demo's friction replaces that of the URDF")
        text = _completed(text, limits)
        model = RobotModel.from_description(parse_urdf(text))
        return cls(text, model, joints, plan, not urdf, (*description.warnings, *remarks))


@dataclass(frozen=True)
class DemoRun:
    """Options of a run of the demo."""

    arm: DemoArm
    rate: float  # control rate, Hz
    output: Path  # directory of all files
    show: bool = False  # open a window with the picture
    real_time: bool = False  # simulated time follows the clock; else it waits for the control
    browser: bool = False  # show robot and node in a browser, not faster than real time

    def save(self, figure: Figure, axes: Iterable[Axes], name: str) -> Path:
        """Write a figure with grids and legends, and show it if requested; return its path."""
        for axis in axes:
            add_grid(axis)
            if axis.get_lines():
                axis.legend(loc='upper left', bbox_to_anchor=(1.0, 1.0), fontsize='small')
        path = self.output / name
        save(figure, path)
        if self.show:
            show_windows()
        return path.resolve()


def _missing_limits(
    model: RobotModel, joints: tuple[str, ...], plan: DemoPlan
) -> tuple[dict[str, dict[str, float]], list[str]]:
    """Return limits for joints that lack them, by joint and name of the limit, and remarks."""
    numbers = [model.joint_names.index(name) for name in joints]
    fastest = np.abs(plan.motion.velocities).max(axis=0)
    found: dict[str, dict[str, float]] = {}
    remarks = []
    for limit, given, needed, factor in (
        ('effort', known_efforts(model)[numbers], plan.effort, SPARE_EFFORT),
        ('velocity', model.velocity_limits[numbers], fastest, SPARE_VELOCITY),
    ):
        known = (given > 0.0) & np.isfinite(given)
        missing = {
            name: factor * float(value) or 1.0
            for name, value, is_known in zip(joints, needed, known, strict=True) if not is_known
        }
        for name, value in missing.items():
            found.setdefault(name, {})[limit] = value
        if missing:
            values = ', '.join(f'{name} {value:.3g}' for name, value in missing.items())
            remarks.append(
                f'no {limit} limit in the URDF; the demo sets {factor:g} times what its motion '
                f'needs: {values}'
            )
    return found, remarks


def _completed(text: str, limits: Mapping[str, Mapping[str, float]]) -> str:
    """Return URDF text with limits, by joint and name of the limit, and without friction."""
    robot = parse_xml(text)  # with its shapes, for the panel
    for joint in robot.findall('joint'):
        for dynamics in joint.findall('dynamics'):
            joint.remove(dynamics)
        for name, value in limits.get(joint.get('name', ''), {}).items():
            limit = joint.find('limit')
            if limit is None:
                limit = ElementTree.SubElement(joint, 'limit', effort='0', velocity='0')
            limit.set(name, repr(value))
    return ElementTree.tostring(robot, encoding='unicode')
