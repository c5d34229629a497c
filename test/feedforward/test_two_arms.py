# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""Two arms in one description: one control for both, or one for each."""

from copy import deepcopy
from functools import cache
from typing import Any
from xml.etree import ElementTree

import numpy as np

from rnea_ros import RobotModel
from rnea_ros.feedforward.law import ComputedTorque
from support.control.control_rig import PANDA_POSE, Rig, panda_arm, setpoint
from support.models.robots import ROOT

SIDES = ('left', 'right')
NAMES = tuple(tuple(f'{side}_{name}' for name in panda_arm().joint_names) for side in SIDES)
POSES = np.array(PANDA_POSE), np.array(PANDA_POSE) * 0.8
GAINS: dict[str, Any] = {'kp': (100.0,), 'kd': (20.0,)}


@cache
def two_arms() -> RobotModel:
    """Return two Pandas on one torso, by text: every name has the arm's prefix."""
    panda = ElementTree.parse(ROOT / 'urdf/panda_arm.urdf').getroot()
    robot = ElementTree.Element('robot', name='two_arms')
    ElementTree.SubElement(robot, 'link', name='torso')
    for number, side in enumerate(SIDES):
        for part in panda.findall('link') + panda.findall('joint'):
            part = deepcopy(part)
            part.set('name', f'{side}_{part.get("name")}')
            for element in (*part.iter('parent'), *part.iter('child')):
                element.set('link', f'{side}_{element.get("link")}')
            robot.append(part)
        mount = ElementTree.SubElement(robot, 'joint', name=f'{side}_mount', type='fixed')
        ElementTree.SubElement(mount, 'parent', link='torso')
        ElementTree.SubElement(mount, 'child', link=f'{side}_fer_link0')
        ElementTree.SubElement(mount, 'origin', xyz=f'0 {number - 0.5} 1', rpy='0 0 0')
    return RobotModel.from_urdf(ElementTree.tostring(robot, 'unicode'))


def rig(side: int | None) -> Rig:
    """Return the control of one arm, or of both."""
    joints = NAMES[0] + NAMES[1] if side is None else NAMES[side]
    made = Rig(two_arms(), q=np.concatenate(POSES), joints=joints, mode=ComputedTorque, **GAINS)
    made.activate()
    return made


def test_one_control_of_two_arms_commands_what_two_controls_command() -> None:
    both = rig(None)
    assert both.model.joint_names == NAMES[0] + NAMES[1]
    target = np.concatenate(POSES) + 0.02
    both.controller.follow(setpoint(NAMES[0] + NAMES[1], target, 0.1), None)
    command = both.run(0.15)[-1]
    for side in (0, 1):
        one, alone = rig(side), Rig(panda_arm(), mode=ComputedTorque, **GAINS)
        alone.q[:] = POSES[side]
        alone.activate()
        part = slice(7 * side, 7 * side + 7)
        for each in (one, alone):
            names = each.resolved.joints
            each.controller.follow(setpoint(names, target[part], 0.1), None)
            np.testing.assert_allclose(each.run(0.15)[-1], command[part], rtol=1e-9, atol=1e-9)
