# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""Nothing is commanded until it is stated what the robot adds to every command by itself."""

from typing import Any

import pytest

from rnea_ros.errors import InputError
from rnea_ros.feedforward.law import HardwareCompensation
from support.ros.fake_robot import GRAVITY, FakeRobot, node
from support.ros.ros_process import NO_ROS, wait_until

pytest.importorskip('rclpy', reason=NO_ROS)

from lifecycle_msgs.msg import Transition

from rnea_ros.node.parameters import missing_hardware_compensates
from rnea_ros.node.parameters.hardware_compensation import compensated

UNSTATED = "-p hardware_compensates:=['']"
ARMS = ('Franka', 'Universal Robots', 'KUKA', 'gravity', 'preset:=', "['none']")


@pytest.mark.ros
def test_unstated_the_node_waits_and_asks_for_it_once(robot: FakeRobot, domain_id: int) -> None:
    with node(domain_id, UNSTATED) as process:
        process.wait_for('hardware_compensates is not stated')
        assert not wait_until(lambda: robot.commands, timeout=1.0)
        (line,) = [text for text in process.output.splitlines() if 'not stated' in text]
        assert all(word in line for word in ARMS), line
        assert robot.set_parameters(hardware_compensates=['none'])[0].successful
        assert wait_until(lambda: robot.steady(GRAVITY))


@pytest.mark.ros
def test_unstated_it_is_configured_and_not_activated(robot: FakeRobot, domain_id: int) -> None:
    with node(domain_id, f'{UNSTATED} -p autostart:=false') as process:
        assert wait_until(lambda: robot.change_state(Transition.TRANSITION_CONFIGURE))
        assert not robot.change_state(Transition.TRANSITION_ACTIVATE)
        process.wait_for('cannot activate: hardware_compensates is not stated')
        assert robot.lifecycle_state == 'inactive'
        assert robot.set_parameters(hardware_compensates=['gravity'])[0].successful
        assert robot.change_state(Transition.TRANSITION_ACTIVATE)
        assert wait_until(lambda: robot.steady(0.0 * GRAVITY))


@pytest.mark.parametrize(('given', 'parts'), [
    ([''], ()), ([], ()), (['none'], ()),
    (['gravity', 'payload'], (HardwareCompensation.GRAVITY, HardwareCompensation.PAYLOAD)),
    (['friction', 'friction'], (HardwareCompensation.FRICTION,)),
])
def test_what_is_stated_is_what_is_left_to_the_hardware(given: list[str], parts: Any) -> None:
    assert compensated(given) == parts
    stated = given not in ([''], [])
    assert bool(missing_hardware_compensates({'hardware_compensates': given})) == (not stated)


@pytest.mark.parametrize('given', [['none', 'gravity'], ['inertia'], ['None']])
def test_a_contradiction_and_an_unknown_word_are_rejected(given: list[str]) -> None:
    with pytest.raises(InputError, match=r'^hardware_compensates: '):
        compensated(given)


# Gains of zero


NEEDING_GAINS = ('computed_torque', 'feedback')


def without_gains(mode: str) -> str:
    return f'mode {mode} with gains.kp and gains.kd of zero corrects no error'


@pytest.mark.ros
def test_a_mode_that_lacks_gains_is_warned_of(robot: FakeRobot, domain_id: int) -> None:
    with node(domain_id, '-p mode:=feedback') as process:
        process.wait_for(without_gains('feedback'))


@pytest.mark.ros
def test_a_change_to_a_mode_without_gains_is_warned_of(robot: FakeRobot, domain_id: int) -> None:
    with node(domain_id) as process:
        robot.wait_until_controlled()
        for mode in NEEDING_GAINS:
            said = without_gains(mode)
            assert said not in process.output
            assert robot.set_parameters(mode=mode)[0].successful
            process.wait_for(said)
            assert robot.set_parameters(compensate_coriolis=mode == 'feedback')[0].successful
            assert robot.set_parameters(gains__kp=[1.0])[0].successful
            assert process.output.count(said) == 1
            results = robot.set_parameters(mode='gravity', gains__kp=[0.0])
            assert all(result.successful for result in results)
