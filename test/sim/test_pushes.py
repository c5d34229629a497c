# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""A push on the arm, along every axis and on two links, is held once a sensor measures it."""

from dataclasses import replace
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from rnea_ros import ReferenceFrame, Wrench
from rnea_ros.feedforward.law import ComputedTorque
from rnea_ros.feedforward.settings import Measures, SensorPlacement, WrenchInputSettings
from support.control.closed_loop import ClosedLoop
from support.models.robots import ROOT

pytest.importorskip('mujoco', reason='MuJoCo (pip install mujoco) is not installed')

PANDA, UR5E = ROOT / 'urdf/panda_arm.urdf', ROOT / 'urdf/ur5e.urdf'
POSES = {
    PANDA: np.array([0.3, -0.785, 0.2, -2.0, 0.4, 1.571, 0.785]),
    UR5E: np.array([0.2, -1.2, 1.5, -1.9, -1.2, 0.3]),
}
PLACES = [
    pytest.param(PANDA, 'fer_link8', SensorPlacement.INLINE, id='panda-flange-inline'),
    pytest.param(PANDA, 'fer_link4', SensorPlacement.CONTACT, id='panda-elbow-contact'),
    pytest.param(UR5E, 'tool0', SensorPlacement.INLINE, id='ur5e-flange-inline'),
    pytest.param(UR5E, 'forearm_link', SensorPlacement.CONTACT, id='ur5e-forearm-contact'),
]
FORCE = 20.0
DIRECTIONS = {'+x': np.eye(3)[0], '-y': -np.eye(3)[1], '+z': np.eye(3)[2]}
HELD = 0.5
"""Duration of a push, s: five time constants of the control."""


class Sensor:
    """
    A force-torque sensor on a simulated robot.

    :param link: where it is
    :param placement: whether it carries what is behind it, or feels only what touches its link
    """

    def __init__(self, link: str, placement: SensorPlacement) -> None:
        self.settings = WrenchInputSettings(
            'sensor', 'topic', link, Measures.ENVIRONMENT_ON_ROBOT, placement,
            deadband_force=0.0, deadband_torque=0.0, fade=0.1,
        )
        self.push = np.zeros(3)

    def __call__(self, loop: ClosedLoop) -> None:
        link, model = self.settings.link, loop.model
        if self.settings.placement is SensorPlacement.INLINE:
            force, torque = loop.simulated.wrench(link)
        else:
            pose = model.forward_kinematics(loop.simulated.state().positions, link)
            force, torque = pose[:3, :3].T @ self.push, np.zeros(3)
        rejection = loop.control.environment.wrenches.sensors['sensor'].monitor.take_sample(
            link, np.ascontiguousarray(force), np.ascontiguousarray(torque),
            stamp=loop.now, clock=loop.now, received=loop.now,
        )
        assert rejection is None


@cache
def displacement(
    path: Path, link: str, placement: SensorPlacement, direction: str, gain: float,
    measures: Measures = Measures.ENVIRONMENT_ON_ROBOT,
) -> float:
    """Return how far joints are pushed off a pose that they hold, rad."""
    pose = POSES[path]
    sensor = Sensor(link, placement)
    settings = replace(sensor.settings, gain=gain, measures=measures)
    loop = ClosedLoop(
        path, pose, sense=sensor, wrench_inputs=(settings,), ramp_duration=0.1,
        mode=ComputedTorque, kp=(100.0,), kd=(20.0,),
    )
    loop.hold(pose, 0.1)
    assert np.abs(loop.q - pose).max() < 1e-6
    sensor.push = FORCE * DIRECTIONS[direction]
    push = Wrench(force=tuple(sensor.push), frame=ReferenceFrame.ROOT_LINK)
    loop.simulated.apply_push(link, push)
    since = len(loop.positions)
    loop.hold(pose, HELD)
    assert loop.active()
    return float(np.abs(np.array(loop.positions[since:]) - pose).max())


@pytest.mark.parametrize(('path', 'link', 'placement'), PLACES)
def test_a_sensor_holds_a_push_better(path: Path, link: str, placement: SensorPlacement) -> None:
    ratios = {}
    for name in DIRECTIONS:
        without, with_sensor = (
            displacement(path, link, placement, name, gain) for gain in (0.0, 1.0)
        )
        ratios[name] = without / with_sensor
    parts = ', '.join(f'{name} {ratio:.0f}' for name, ratio in ratios.items())
    print(f'{path.stem}, {link}, {placement.value}: displaced times less with the sensor: {parts}')
    assert min(ratios.values()) > 5.0


def test_a_sensor_of_the_wrong_sign_makes_it_worse() -> None:
    # So that the test above cannot pass by chance.
    place = (PANDA, 'fer_link4', SensorPlacement.CONTACT, '+x')
    wrong = displacement(*place, 1.0, Measures.ROBOT_ON_ENVIRONMENT)
    assert wrong > 1.5 * displacement(*place, 0.0)
