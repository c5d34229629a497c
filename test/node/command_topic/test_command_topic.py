# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""The command topic: other publishers, controllers that change, commands in a driver's unit."""

from collections.abc import Iterator
import re
import signal
import time
from typing import Any

import numpy as np
import pytest

from support.ros.fake_robot import (
    GRAVITY,
    JOINTS,
    LIMITS,
    NODE,
    FakeRobot,
    fake_controller,
    fake_robot,
    node,
)
from support.ros.ros_process import NO_ROS, RosProcess, ros_node, wait_until

pytest.importorskip('rclpy', reason=NO_ROS)
from lifecycle_msgs.msg import Transition
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray

from rnea_ros.node.command_topic.monitor import DISCOVERY
from rnea_ros.ros.endpoints import NAME_TIMEOUT

pytestmark = pytest.mark.ros

TOPIC = '/effort_controller/commands'

OTHER_ORDER = [3, 0, 6, 1, 5, 2, 4]
OTHER_JOINTS = tuple(JOINTS[k] for k in OTHER_ORDER)

IN_FLIGHT = 1
"""
Commands that were being sent in the moment in which a controller began to listen.

They cannot be held back; a controller of ros2_control that is not active yet drops them.
"""

RATE_LIMIT = 15.0
SLOWLY = f'-p effort_rate_limit:=[{",".join([str(RATE_LIMIT)] * 7)}]'
LISTED = f'-p joints:=[{",".join(JOINTS)}]'


def usual_node(domain_id: int, options: str = '') -> RosProcess:
    """Start a feedforward node that waits for others as a user's does."""
    return node(domain_id, f'-p ramp_duration:=0.3 {options}', module=NODE)


def is_gravity(commands: list[tuple[float, Any]], order: Any = slice(None)) -> bool:
    return bool(commands) and np.allclose(commands[-1][1], GRAVITY[order], atol=1e-9)


def assert_one_order(commands: list[tuple[float, Any]]) -> None:
    """Check that what was sent is on the way to gravity torque, or from there, in one order."""
    values = np.array([command for _, command in commands])
    heavy = np.abs(GRAVITY) > 1.0
    share = values[:, heavy] / GRAVITY[heavy]
    assert ((share > -0.01) & (share < 1.01)).all()
    assert (np.abs(values[:, ~heavy]) <= np.abs(GRAVITY[~heavy]) + 1e-9).all()


def assert_ramped_up(commands: list[tuple[float, Any]], since: float) -> None:
    """
    Check that :data:`SLOWLY` sent commands go up to gravity torque, and from zero since a time, s.

    Some may be lost where the machine stalls.
    """
    heavy = np.abs(GRAVITY) > 1.0
    times, values = zip(*commands[IN_FLIGHT:], strict=True)
    assert (np.abs(values[0]) <= RATE_LIMIT * (times[0] - since)).all()
    shares = np.array(values)[:, heavy] / GRAVITY[heavy]
    assert (np.diff(shares, axis=0) > -1e-9).all()


@pytest.fixture
def robot(domain_id: int) -> Iterator[FakeRobot]:
    """A robot whose effort controller is not there yet."""
    with fake_robot(domain_id, controller=False) as robot:
        yield robot


def wait_for_value(robot: FakeRobot, key: str, value: str) -> None:
    reached = wait_until(lambda: robot.diagnostics.get(key) == value)
    assert reached, f'{key} is not {value}: {robot.diagnostics}'


def test_a_controller_that_is_back_is_ramped_up_to(robot: FakeRobot, domain_id: int) -> None:
    with fake_controller(domain_id) as commands:
        process = node(domain_id, SLOWLY)
        assert wait_until(lambda: is_gravity(commands))
    with process:
        wait_for_value(robot, 'effort_controller', 'absent')
        since = time.time()
        with fake_controller(domain_id) as commands:
            assert wait_until(lambda: len(commands) > 10 and is_gravity(commands))
            assert_ramped_up(commands, since)
            assert_one_order(commands)
            wait_for_value(robot, 'effort_controller', 'confirmed')
            assert robot.controlled


def test_another_order_needs_a_new_configuration(robot: FakeRobot, domain_id: int) -> None:
    with fake_controller(domain_id) as commands:
        process = node(domain_id)
        assert wait_until(lambda: is_gravity(commands))
        assert_one_order(commands)
    with process, fake_controller(domain_id, OTHER_JOINTS) as commands:
        process.wait_for(f'takes commands in another order: {", ".join(OTHER_JOINTS)} now')
        robot.wait_for_state('fault')
        assert robot.diagnostics['reason'] == 'controller_joints_changed'
        assert robot.diagnostics['effort_controller'] == 'withheld'
        time.sleep(0.3)
        assert len(commands) <= IN_FLIGHT
        assert robot.change_state(Transition.TRANSITION_DEACTIVATE)
        assert not robot.change_state(Transition.TRANSITION_ACTIVATE)
        process.wait_for('cannot activate: /effort_controller takes commands in another order')
        assert len(commands) <= IN_FLIGHT
        assert robot.change_state(Transition.TRANSITION_CLEANUP)
        assert wait_until(lambda: robot.change_state(Transition.TRANSITION_CONFIGURE))
        assert robot.change_state(Transition.TRANSITION_ACTIVATE)
        assert wait_until(lambda: is_gravity(commands, OTHER_ORDER)), process.output


def test_a_controller_beside_a_killed_one_is_asked(robot: FakeRobot, domain_id: int) -> None:
    # DDS takes seconds to notice a kill: the old one listens, but does not answer.
    with fake_controller(domain_id, None) as old, usual_node(domain_id, LISTED) as process:
        assert wait_until(lambda: is_gravity(old))
        since = time.time()
        with fake_controller(domain_id, OTHER_JOINTS) as commands:
            process.wait_for('fault (controller_joints_changed)')
            # A listener whose name is not known after this time, on a stalled machine, is no node.
            early = [sent for sent, _ in commands if sent - since < NAME_TIMEOUT]
            assert len(early) <= IN_FLIGHT


def test_with_given_joints_commands_are_sent_before_a_controller_exists(
    robot: FakeRobot, domain_id: int
) -> None:
    with usual_node(domain_id, f'{LISTED} {SLOWLY}'):
        robot.wait_until_controlled()
        assert robot.diagnostics['effort_controller'] == 'absent'
        assert 'commands_withheld' not in robot.diagnostics['flags']
        since = time.time()
        with fake_controller(domain_id) as commands:
            assert wait_until(lambda: len(commands) > 10 and is_gravity(commands))
            assert_ramped_up(commands, since)


def test_listeners_withhold_nothing_up_to_the_zeros(robot: FakeRobot, domain_id: int) -> None:
    with (
        fake_controller(domain_id) as commands, node(domain_id) as process,
        RosProcess('support.ros.listeners', domain_id=domain_id) as crowd,
    ):
        crowd.wait_for('listener 5')
        robot.wait_until_controlled()
        crowd.wait_for(f'listener {int(crowd.output.split()[-1]) + 15}')
        assert 'count/commands_withheld' not in robot.diagnostics
        process.send(signal.SIGINT)
        assert process.wait() == 0
        assert 'takes commands' not in process.output
        assert 'withheld' not in process.output
        assert wait_until(lambda: not commands[-1][1].any()), commands[-1]
        robot.assert_safe()


def test_the_parameter_joints_must_be_the_controllers(robot: FakeRobot, domain_id: int) -> None:
    # Rejected at configure or, if the controller is discovered later, ended at once.
    controller = fake_controller(domain_id, (*JOINTS[1:6], 'elbow'))
    with controller as commands, usual_node(domain_id, LISTED) as process:
        process.wait_for('takes commands without fer_joint1, fer_joint7 and with elbow')
        assert len(commands) <= IN_FLIGHT


def test_another_publisher_prevents_activation(robot: FakeRobot, domain_id: int) -> None:
    with fake_controller(domain_id) as commands, ros_node(domain_id, 'rival') as rival:
        publisher = rival.create_publisher(Float64MultiArray, TOPIC, 1)
        with usual_node(domain_id) as process:
            process.wait_for(f'/rival publishes on {TOPIC} already')
            rival.destroy_publisher(publisher)
            assert wait_until(lambda: is_gravity(commands))


def test_two_controllers_of_one_name_prevent_activation(robot: FakeRobot, domain_id: int) -> None:
    said = '2 controllers named /effort_controller listen on /effort_controller/commands'
    with (
        fake_controller(domain_id) as commands, fake_controller(domain_id) as bystander,
        usual_node(domain_id) as process,
    ):
        process.wait_for(f'waiting: {said}')
        assert robot.change_state(Transition.TRANSITION_CONFIGURE)
        assert not robot.change_state(Transition.TRANSITION_ACTIVATE)
        process.wait_for(f'cannot activate: {said}')
        assert not commands
        assert not bystander


def test_two_robots_in_one_domain_are_not_controlled_unasked(
    robot: FakeRobot, domain_id: int
) -> None:
    said = '2 nodes named /robot publish on /joint_states: two robots on one domain?'
    with (
        fake_controller(domain_id) as commands, ros_node(domain_id, 'robot') as second,
        usual_node(domain_id) as process,
    ):
        publisher = second.create_publisher(JointState, 'joint_states', 1)
        process.wait_for(f'waiting: {said}')
        assert not commands
        second.destroy_publisher(publisher)
        assert wait_until(lambda: is_gravity(commands))


def test_of_two_nodes_that_start_together_one_wins(robot: FakeRobot, domain_id: int) -> None:
    with (
        fake_controller(domain_id) as commands, usual_node(domain_id, '-r __node:=first') as first,
        usual_node(domain_id, '-r __node:=second') as second,
    ):

        def winners() -> list[RosProcess]:
            return [process for process in (first, second) if last_state(process) == 'active']

        def one_has_won() -> bool:
            seen = winners()
            return len(seen) == 1 and not wait_until(lambda: winners() != seen, DISCOVERY)

        # They may both begin before DDS shows them each other, end, and try again.
        assert wait_until(one_has_won, 90.0)
        assert wait_until(lambda: is_gravity(commands))


def last_state(process: RosProcess) -> str:
    """Return the newest state of the control that a process has logged."""
    states = re.findall(r'\]: (waiting|ramping|active|holding|fault|stopped)', process.output)
    return states[-1] if states else ''


def test_a_killed_node_can_be_replaced_once_noticed(robot: FakeRobot, domain_id: int) -> None:
    with fake_controller(domain_id) as commands, usual_node(domain_id) as first:
        assert wait_until(lambda: is_gravity(commands))
        first.send(signal.SIGKILL)
        with usual_node(domain_id) as second:
            second.wait_for(' active')


SCALE = np.array([4.0, 4.0, -4.0, 2.5, 0.5, 0.5, -0.5])
"""N m per ampere of each joint, two of them with an inverted sign."""

UNLIMITED = '-p effort_rate_limit:=[1e6]'
"""A late tick must not bend the ramp: the rate limit counts from the last sending."""


def test_commands_are_amperes_and_all_else_is_newton_metres(domain_id: int) -> None:
    start = GRAVITY + 1.0
    scales = {'effort_scale': SCALE, 'command_scale': 1.0 / SCALE}
    options = ' '.join(f'-p {name}:={values.tolist()}' for name, values in scales.items())
    options = f'{options} {UNLIMITED}'.replace(', ', ',')
    with fake_robot(domain_id) as robot, node(domain_id, options) as process:
        robot.message.effort = (start / SCALE).tolist()
        assert wait_until(lambda: robot.steady(GRAVITY / SCALE))
        # The ramp goes straight from the measured effort; its first commands may be lost.
        commands = np.array([command for _, command in robot.commands]) * SCALE
        share = (commands - GRAVITY) / (start - GRAVITY)
        np.testing.assert_allclose(share, np.tile(share[:, :1], 7), atol=1e-9)
        assert 0.0 < share[0, 0] < 1.0
        assert (np.diff(share[:, 0]) <= 1e-9).all()
        assert (np.abs(commands) <= LIMITS).all()
        # An effort of the ramp may come after commands that are sent more often.
        assert wait_until(
            lambda: robot.efforts and np.allclose(robot.efforts[-1][1], GRAVITY, 1e-12, 0.0)
        )
        (result,) = robot.set_parameters(command_scale=[1.0])
        assert not result.successful
        assert result.reason.startswith('command_scale: cannot be changed while active')
        process.interrupt()
        assert wait_until(lambda: not robot.newest.any())
