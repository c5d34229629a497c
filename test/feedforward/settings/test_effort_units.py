# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""Drivers with another unit of effort: measured efforts enter in N m, limits are in N m."""

import math
import re
from typing import Any

import numpy as np
import pytest

from rnea_ros import RobotModel
from rnea_ros.errors import InputError
from rnea_ros.feedforward.law import Feedforward
from rnea_ros.feedforward.settings import EffortUnits, Settings, resolve
from support.cases import each
from support.control.control_rig import PANDA_POSE, Rig, panda_arm, swing

JOINTS = panda_arm().joint_names
EACH = (0.5, -2.0, 3.0, 1e-3, 40.0, -7.0, 1.0)
"""N m per ampere of each joint, two of them with an inverted sign."""


@each('joints, units, command_scale, effort_scale', [
    (JOINTS, {}, [1.0] * 7, [1.0] * 7),
    (JOINTS[:2], {'command_scale': (0.25,), 'effort_scale': (4.0,)}, [0.25] * 2, [4.0] * 7),
    (
        (JOINTS[4], JOINTS[1]), {'command_scale': (0.1, -0.2), 'effort_scale': (10.0, -5.0)},
        [0.1, -0.2], [1.0, -5.0, 1.0, 1.0, 10.0, 1.0, 1.0],
    ),
])
def test_one_scale_is_for_all_joints_and_several_are_for_the_commanded_ones(
    joints: tuple[str, ...], units: dict[str, Any], command_scale: list[float],
    effort_scale: list[float],
) -> None:
    settings = resolve(Settings(joints=joints, units=EffortUnits(**units)), panda_arm())
    assert settings.command_scale.tolist() == command_scale
    assert settings.effort_scale.tolist() == effort_scale


@each('name', ['command_scale', 'effort_scale'])
@each('values, reason', [
    ((1.0,) * 6 + (-0.0,), 'has a 0; 1.0 is for efforts in N m or N'),
    ((1.0,) * 6 + (math.inf,), 'value 7 of 7, inf is not between -1e+06 and 1e+06'),
])
def test_a_bad_scale_is_rejected(name: str, values: tuple[float, ...], reason: str) -> None:
    with pytest.raises(InputError, match=f'^{name}: .*{re.escape(reason)}'):
        resolve(Settings(joints=JOINTS, units=EffortUnits(**{name: values})), panda_arm())


def test_no_command_within_the_limits_can_become_infinite() -> None:
    description = panda_arm().description
    assert description is not None
    strong = re.sub(r'effort="[^"]+"', 'effort="1e305"', description.text)
    settings = Settings(joints=JOINTS, units=EffortUnits(command_scale=(1e6,)))
    with pytest.raises(InputError, match=r"^effort_limits: joint 'fer_joint1': .* 1e\+305"):
        resolve(settings, RobotModel.from_urdf(strong))


def moved(unit: Any, **settings: Any) -> Any:
    """Return the commands of a start from measured efforts, and of a motion, in N m."""
    rig = Rig(panda_arm(), q=PANDA_POSE, mode=Feedforward, ramp_duration=0.1, **settings)
    rig.effort = (rig.gravity + 3.0) / unit
    rig.activate()
    rig.controller.follow(swing(JOINTS, rig.q, rig.q + 0.2, 0.1), None)
    rig.run(0.1)
    return np.array(rig.commands)


def test_between_measurement_and_command_efforts_are_newton_metres() -> None:
    units = EffortUnits(command_scale=tuple(1.0 / np.array(EACH)), effort_scale=EACH)
    np.testing.assert_allclose(moved(EACH, units=units), moved(1.0), rtol=1e-12, atol=1e-12)
