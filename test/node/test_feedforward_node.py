# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""The node over real DDS, with a robot that is made of topics alone."""

from array import array
from collections.abc import Iterator, Sequence
from pathlib import Path
import signal
import time
from typing import Any

import numpy as np
import pytest
import yaml

from support.models.robots import SHIPPED
from support.ros.fake_robot import (
    GRAVITY,
    JOINTS,
    MODEL,
    NODE,
    PANDA_ARM,
    PERIOD,
    POSE,
    FakeRobot,
    SimulatedTime,
    fake_robot,
    node,
)
from support.ros.ros_process import NO_ROS, RosProcess, wait_until

pytest.importorskip('rclpy', reason=NO_ROS)
pytestmark = pytest.mark.ros


@pytest.fixture
def active(robot: FakeRobot, domain_id: int) -> Iterator[RosProcess]:
    with node(domain_id) as process:
        robot.wait_until_controlled()
        yield process


def count(robot: FakeRobot, reason: str) -> int:
    return int(robot.diagnostics.get(f'count/joint_states/{reason}', '0'))


def wait_for_count(robot: FakeRobot, reason: str, before: int = 0) -> None:
    counted = wait_until(lambda: count(robot, reason) > before)
    assert counted, f'{reason} was not counted: {robot.diagnostics}'


def test_measured_effort_is_where_the_ramp_starts(robot: FakeRobot, domain_id: int) -> None:
    robot.message.effort = (GRAVITY + 1.0).tolist()
    # Long enough that commands of the ramp remain where the test stalls.
    with node(domain_id, '-p ramp_duration:=1.5'):
        assert wait_until(lambda: len(robot.commands) > 0)
        offset = robot.commands[0][1] - GRAVITY
        np.testing.assert_allclose(offset, offset[0], atol=1e-9)
        assert 0.0 < offset[0] < 1.0


@pytest.mark.parametrize(('joints', 'options', 'order'), [
    ([JOINTS[k] for k in (3, 0, 6, 1, 5, 2, 4)], '', [3, 0, 6, 1, 5, 2, 4]),
    (JOINTS[2:5], '', [2, 3, 4]), (None, f'-p joints:=[{",".join(JOINTS)}]', [*range(7)]),
], ids=['other order', 'some', 'given to the node'])
def test_commands_are_for_the_joints_of_the_controller_in_its_order(
    domain_id: int, joints: Sequence[str] | None, options: str, order: list[int]
) -> None:
    with fake_robot(domain_id, joints=joints) as robot, node(domain_id, options):
        assert wait_until(lambda: robot.steady(GRAVITY[order]))


def test_a_controller_that_names_no_joints_is_not_commanded_otherwise(domain_id: int) -> None:
    with fake_robot(domain_id, joints=None) as robot, node(domain_id) as process:
        process.wait_for('waiting: /effort_controller names no joints; set joints')
        assert not robot.commands


def test_the_node_says_what_it_waits_for(domain_id: int) -> None:
    with node(domain_id) as process:
        process.wait_for('no robot_description, neither as parameter nor on /robot_description')


def test_a_bad_robot_description_is_rejected_by_name_and_a_good_one_taken(domain_id: int) -> None:
    bad = PANDA_ARM.replace('type="revolute"', 'type="elastic"', 1)
    with fake_robot(domain_id, urdf=bad) as robot, node(domain_id) as process:
        process.wait_for("joint 'fer_joint1': unknown type 'elastic'")
        robot.describe(PANDA_ARM)
        assert wait_until(lambda: robot.steady(GRAVITY))


def test_a_description_beside_the_parameter_counts_for_nothing(domain_id: int) -> None:
    given = '-p robot_description:=nonsense'
    with fake_robot(domain_id, urdf=None) as robot, node(domain_id, given) as process:
        process.wait_for('cannot configure: ')
        for text in ('more nonsense', PANDA_ARM):
            robot.describe(text)
            time.sleep(0.2)
        assert process.output.count('cannot configure: ') == 1


def test_the_description_may_be_the_path_of_a_file(domain_id: int) -> None:
    given = f'-p robot_description:={SHIPPED[1]}'
    with fake_robot(domain_id, urdf=None) as robot, node(domain_id, given):
        assert wait_until(lambda: robot.steady(GRAVITY))


def test_new_descriptions_are_logged_once_a_second(robot: FakeRobot, active: RosProcess) -> None:
    began = time.monotonic()
    for number in range(50):
        robot.describe(f'<robot name="number {number}"/>')
        time.sleep(0.01)
    said = 'the new robot_description takes effect at the next activation'
    active.wait_for(said)
    assert active.output.count(said) <= 1 + (time.monotonic() - began)


def test_a_request_with_a_bad_value_changes_nothing(robot: FakeRobot, active: RosProcess) -> None:
    from rcl_interfaces.srv import GetParameters, SetParametersAtomically
    from rclpy.parameter import Parameter

    changes = [Parameter('mode', value='feedback'), Parameter('gains.kp', value=[1.0, -2.0])]
    result = robot.call(
        SetParametersAtomically, 'feedforward/set_parameters_atomically',
        SetParametersAtomically.Request(parameters=[c.to_parameter_msg() for c in changes]),
    ).result
    assert not result.successful
    assert 'gains.kp' in result.reason
    (mode,) = robot.call(
        GetParameters, 'feedforward/get_parameters', GetParameters.Request(names=['mode'])
    ).values
    assert mode.string_value == 'gravity'


def loaded(file: Path) -> list[Any]:
    """Return the parameters of a file as ``ros2 param load`` sends them."""
    try:
        from rclpy.parameter import parameter_dict_from_yaml_file
    except ImportError:  # Humble
        from ros2param.api import parse_parameter_dict

        values = yaml.safe_load(file.read_text(encoding='utf-8'))['/**']['ros__parameters']
        readable = {name: value for name, value in values.items() if value != ''}  # of ros2param
        return list(parse_parameter_dict(namespace='', parameter_dict=readable))
    return list(parameter_dict_from_yaml_file(str(file), use_wildcard=True).values())


def test_a_file_of_all_parameters_is_loaded_while_active_without_a_step(
    robot: FakeRobot, active: RosProcess, tmp_path: Path
) -> None:
    from rcl_interfaces.srv import GetParameters, ListParameters, SetParameters
    from rclpy.parameter import parameter_value_to_python

    names = robot.call(
        ListParameters, 'feedforward/list_parameters', ListParameters.Request()
    ).result.names
    values = robot.call(
        GetParameters, 'feedforward/get_parameters', GetParameters.Request(names=names)
    ).values
    assert wait_until(lambda: robot.steady(GRAVITY))
    assert {'rate', 'command_topic', 'robot_description', 'use_sim_time'} <= set(names)
    found = [parameter_value_to_python(value) for value in values]
    plain = [list(value) if isinstance(value, array) else value for value in found]
    file = tmp_path / 'parameters.yaml'
    dumped = dict(zip(names, plain, strict=True))
    dumped |= {'mode': 'computed_torque', 'gains.kp': [50.0]}
    file.write_text(yaml.safe_dump({'/**': {'ros__parameters': dumped}}))
    request = SetParameters.Request(parameters=loaded(file))
    results = robot.call(SetParameters, 'feedforward/set_parameters', request).results
    assert [result.reason for result in results if not result.successful] == []
    assert wait_until(lambda: robot.diagnostics.get('mode') == 'computed_torque')
    assert robot.steady(GRAVITY)
    robot.assert_safe()


@pytest.mark.parametrize('number', [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ramps_to_zero_and_ends_with_exit_code_0(
    robot: FakeRobot, active: RosProcess, number: signal.Signals
) -> None:
    assert wait_until(lambda: robot.steady(GRAVITY))
    for _ in range(20):  # further ones do not shorten the ramp
        active.send(number)
        time.sleep(0.01)
    assert active.wait() == 0
    assert wait_until(lambda: robot.steady(np.zeros(7), 0.0))
    robot.assert_safe()


def test_stale_action_hold_leaves_gravity_torque_behind(robot: FakeRobot, domain_id: int) -> None:
    with node(domain_id, '-p stale_action:=hold') as process:
        assert wait_until(lambda: robot.steady(GRAVITY))
        process.send(signal.SIGINT)
        assert process.wait() == 0
        time.sleep(0.2)
        np.testing.assert_allclose(robot.newest, GRAVITY, atol=1e-9)


def test_a_lifecycle_manager_configures_and_activates_at_once(domain_id: int) -> None:
    from lifecycle_msgs.msg import Transition

    with fake_robot(domain_id) as robot, node(domain_id, '-p autostart:=false', module=NODE):
        assert robot.change_state(Transition.TRANSITION_CONFIGURE)
        assert robot.change_state(Transition.TRANSITION_ACTIVATE)
        assert wait_until(lambda: robot.steady(GRAVITY))


def test_deactivate_ramps_down_and_a_new_life_begins(robot: FakeRobot, active: RosProcess) -> None:
    from lifecycle_msgs.msg import Transition

    assert wait_until(lambda: robot.steady(GRAVITY))
    assert robot.change_state(Transition.TRANSITION_DEACTIVATE)
    assert robot.sends_nothing_for(0.2)
    assert wait_until(lambda: robot.steady(np.zeros(7), 0.0))
    assert robot.change_state(Transition.TRANSITION_ACTIVATE)
    assert wait_until(lambda: robot.steady(GRAVITY))
    robot.assert_safe()
    assert robot.change_state(Transition.TRANSITION_DEACTIVATE)
    assert robot.change_state(Transition.TRANSITION_CLEANUP)
    assert robot.set_parameters(rate=250.0)[0].successful
    assert wait_until(lambda: robot.change_state(Transition.TRANSITION_CONFIGURE))
    assert robot.change_state(Transition.TRANSITION_ACTIVATE)
    active.wait_for('gravity at 250 Hz')


def test_joint_states_that_stop_end_in_zero_and_fault(robot: FakeRobot, domain_id: int) -> None:
    from rnea_ros.ros import seconds

    with node(domain_id, '-p joint_states_timeout:=2.0') as process:
        assert wait_until(lambda: robot.steady(GRAVITY))
        robot.sending = False
        process.wait_for('fault (joint_states_stale)')
        assert wait_until(lambda: robot.steady(np.zeros(7), 0.0))
        assert wait_until(lambda: not robot.efforts[-1][1].any())
        held = [at for at, effort in robot.efforts if np.allclose(effort, GRAVITY, atol=1e-9)]
        # For the timeout and the time of holding.
        assert held[-1] - seconds(robot.message.header.stamp) > 2.0 + 0.3 - 2.0 * PERIOD
        robot.sending = True
        time.sleep(0.2)
        assert robot.steady(np.zeros(7), 0.0)
        robot.assert_safe()


def test_bad_joint_states_never_reach_the_command(robot: FakeRobot, active: RosProcess) -> None:
    assert wait_until(lambda: robot.steady(GRAVITY))
    # Neighbours differ in their reasons: what the next one adds is then its own.
    for reason, field, value in (
        ('not_finite', 'position', [float('nan'), *POSE[1:]]),
        ('wrong_size', 'position', list(POSE[:6])), ('not_finite', 'velocity', [float('inf')] * 7),
        ('no_velocity', 'velocity', []), ('duplicate_joint', 'name', [*JOINTS[:6], JOINTS[0]]),
    ):
        before = count(robot, reason)
        good = getattr(robot.message, field)
        setattr(robot.message, field, value)
        wait_for_count(robot, reason, before)
        setattr(robot.message, field, good)
    assert robot.steady(GRAVITY)
    robot.assert_safe()


def test_a_trajectory_is_rejected_with_its_reason(robot: FakeRobot, active: RosProcess) -> None:
    from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

    publisher = robot.node.create_publisher(JointTrajectory, 'feedforward/joint_trajectory', 1)
    assert wait_until(lambda: publisher.get_subscription_count() > 0)
    beyond = [POSE[0] + 0.5, *POSE[1:]]
    far = JointTrajectory(
        joint_names=list(JOINTS), points=[JointTrajectoryPoint(positions=beyond)]
    )
    publisher.publish(far)
    active.wait_for('trajectory rejected: mode_gravity')
    assert robot.set_parameters(mode='computed_torque')[0].successful
    assert wait_until(lambda: robot.diagnostics.get('mode') == 'computed_torque')
    publisher.publish(far)
    assert wait_until(lambda: robot.diagnostics.get('count/joint_trajectory/start_too_far') == '1')
    assert robot.steady(GRAVITY)


def test_the_terms_add_up_to_the_command(robot: FakeRobot, active: RosProcess) -> None:
    from sensor_msgs.msg import JointState

    robot.message.velocity = [0.3] * 7
    assert robot.set_parameters(compensate_coriolis=True)[0].successful
    terms: dict[str, dict[tuple[int, int], Any]] = {}
    names = ['effort', *(f'terms/{t}' for t in ('gravity', 'coriolis', 'inertia', 'feedback'))]
    for name in [*names, 'terms/limited']:
        terms[name] = {}

        def keep(message: Any, name: str = name) -> None:
            stamp = message.header.stamp
            terms[name][stamp.sec, stamp.nanosec] = np.array(message.effort)

        robot.node.create_subscription(JointState, f'feedforward/{name}', keep, 100)

    def common() -> set[tuple[int, int]]:
        return set.intersection(*(set(values) for values in terms.values()))

    assert wait_until(lambda: len(common()) > 20)
    for stamp in common():
        total = sum(values[stamp] for name, values in terms.items() if name != 'effort')
        np.testing.assert_allclose(total, terms['effort'][stamp], atol=1e-9)
    coriolis, expected = terms['terms/coriolis'], MODEL.coriolis_torques(POSE, [0.3] * 7)
    assert wait_until(lambda: np.allclose(coriolis[max(common())], expected, atol=1e-9))


def test_simulated_time_drives_the_loop_and_its_reset_ends_the_control(domain_id: int) -> None:
    with fake_robot(domain_id) as robot, node(domain_id, '-p use_sim_time:=true') as process:
        simulated = SimulatedTime(robot)
        assert wait_until(lambda: robot.steady(GRAVITY))
        simulated.paused = True
        process.wait_for('/clock stands still at ')
        simulated.paused = False
        simulated.begin = 5.0
        process.wait_for('(clock_reset)')
        robot.assert_safe()
