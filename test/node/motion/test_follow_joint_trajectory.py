# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""The action ``~/follow_joint_trajectory`` over real DDS: every goal gets an answer and an end."""

from collections.abc import Iterator, Sequence
import re
import signal
import time
from typing import Any

import numpy as np
import pytest

from support.ros.fake_robot import JOINTS, POSE, FakeRobot, SimulatedTime, fake_robot, node
from support.ros.goal_client import OFF, GoalClient, SentGoal
from support.ros.ros_process import NO_ROS, RosProcess, new_domain_id, ros_node, wait_until

pytest.importorskip('rclpy', reason=NO_ROS)
pytest.importorskip('control_msgs.action', reason='control_msgs (ROS 2) is not installed')

from rnea_ros.ros import seconds

pytestmark = pytest.mark.ros

SUCCEEDED, CANCELED, ABORTED = 4, 5, 6
ACTIVATE, DEACTIVATE = 3, 4
LONG = (60.0, OFF)
"""A last point that no test waits for."""

OPTIONS = '-p mode:=feedforward -p constraints.fer_joint7.goal:=0.5'


@pytest.fixture(scope='module')
def running() -> Iterator[tuple[int, FakeRobot, RosProcess]]:
    """An active node and its robot, shared by tests that leave it active."""
    domain_id = new_domain_id()
    with fake_robot(domain_id) as robot, node(domain_id, OPTIONS) as process:
        robot.wait_until_controlled()
        yield domain_id, robot, process
        robot.assert_safe()


@pytest.fixture
def robot(running: tuple[int, FakeRobot, RosProcess]) -> FakeRobot:
    return running[1]


@pytest.fixture
def process(running: tuple[int, FakeRobot, RosProcess]) -> RosProcess:
    return running[2]


@pytest.fixture
def client(robot: FakeRobot) -> Iterator[GoalClient]:
    client = GoalClient(robot.node)
    yield client
    client.destroy()


def time_of(feedback: Any) -> float:
    return seconds(feedback.desired.time_from_start)


def test_a_goal_succeeds_after_feedback_of_desired_measured_and_error(client: GoalClient) -> None:
    # Replaced at last: a short motion could end before its first feedback.
    sent = client.send((0.2, OFF), LONG)
    assert wait_until(lambda: sent.feedback and time_of(sent.feedback[-1]) > 0.2)
    assert client.send((0.1, POSE)).end == (SUCCEEDED, 0, 'goal reached')
    for feedback in sent.feedback:
        assert tuple(feedback.joint_names) == JOINTS
        assert list(feedback.actual.positions) == list(POSE)
        desired, error = (np.array(each.positions) for each in (feedback.desired, feedback.error))
        np.testing.assert_allclose(error, desired - POSE, atol=1e-12)
        if hasattr(feedback, 'index'):  # since control_msgs 6.3
            assert feedback.index == int(time_of(feedback) > 0.2)
        assert len(feedback.desired.accelerations) == len(feedback.desired.velocities) == 7
    stamps = [seconds(each.header.stamp) for each in sent.feedback]
    assert stamps == sorted(stamps)


def test_a_cancelled_goal_is_canceled_and_another_one_can_follow(client: GoalClient) -> None:
    sent = client.send(LONG)
    assert wait_until(lambda: sent.feedback)
    assert sent.cancel()
    assert sent.end == (CANCELED, 0, 'cancelled')
    assert not sent.cancel()
    assert client.send((0.1, OFF)).end[0] == SUCCEEDED


def test_a_new_goal_aborts_the_active_one(client: GoalClient) -> None:
    first = client.send((30.0, POSE), LONG)
    assert wait_until(lambda: first.feedback)
    second = client.send((0.1, OFF))
    assert first.end == (ABORTED, -1, 'replaced')
    assert second.end == (SUCCEEDED, 0, 'goal reached')


def test_a_trajectory_on_the_topic_aborts_the_goal(client: GoalClient, robot: FakeRobot) -> None:
    from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

    publisher = robot.node.create_publisher(JointTrajectory, 'feedforward/joint_trajectory', 1)
    assert wait_until(lambda: publisher.get_subscription_count() > 0)
    point = JointTrajectoryPoint(positions=list(POSE))
    for message, reason in (
        (JointTrajectory(joint_names=list(JOINTS), points=[point]), 'replaced'),
        (JointTrajectory(), 'cancelled'),
    ):
        sent = client.send(LONG)
        assert wait_until(lambda: sent.feedback)  # noqa: B023
        publisher.publish(message)
        assert sent.end == (ABORTED, -1, reason)


def test_violated_tolerances_abort_with_code_joint_and_excess(client: GoalClient) -> None:
    sent = client.send((0.5, OFF), LONG, path={'fer_joint3': 0.01})
    assert sent.end == (ABORTED, -4, 'path_tolerance')
    assert re.search(r"'fer_joint3': position error 0\.0[12]\d* exceeds 0\.01,", sent.text)
    sent = client.send((0.1, OFF), tolerance={'fer_joint3': 0.01}, goal_time=0.1)
    assert sent.end == (ABORTED, -5, 'goal_tolerance')
    assert "'fer_joint3': position error 0.02 exceeds 0.01" in sent.text


def test_default_tolerances_can_change_while_active(client: GoalClient, robot: FakeRobot) -> None:
    limits = {'constraints__fer_joint7__trajectory': 0.01}
    assert all(result.successful for result in robot.set_parameters(**limits))
    assert client.send((0.5, OFF), LONG).end == (ABORTED, -4, 'path_tolerance')
    assert client.send((0.1, OFF), path={'fer_joint7': -1.0}).end[0] == SUCCEEDED
    limits = {'constraints__fer_joint7__trajectory': 0.0, 'constraints__goal_time': 0.05}
    limits |= {'constraints__fer_joint7__goal': 0.01}
    assert all(result.successful for result in robot.set_parameters(**limits))
    assert client.send((0.1, OFF)).end == (ABORTED, -5, 'goal_tolerance')
    limits = {'constraints__fer_joint7__goal': 0.5, 'constraints__goal_time': 0.0}
    assert all(result.successful for result in robot.set_parameters(**limits))


def test_goals_are_rejected_by_the_topics_rules(client: GoalClient, process: RosProcess) -> None:
    def rejected(words: str, last: Sequence[float] = OFF, **fields: Any) -> None:
        time.sleep(1.1)  # the log has one line a second
        assert not client.send((1.0, last), **fields).accepted
        process.wait_for(words)

    active = client.send(LONG)
    assert active.accepted
    rejected('goal rejected, INVALID_JOINTS: unknown_joint', joints=('x', *JOINTS[1:]))
    rejected('goal rejected, INVALID_GOAL: final_velocity', velocities=[0.1] * 7)
    rejected('goal rejected, INVALID_GOAL: invalid_tolerance', path={'x': 0.1})
    rejected('goal rejected, INVALID_GOAL: position_limit', last=[9.0] * 7)
    assert active.feedback
    assert active.cancel()
    assert active.end[0] == CANCELED


def test_ten_clients_at_once_get_ten_ends(robot: FakeRobot) -> None:
    clients = [GoalClient(robot.node) for _ in range(10)]
    sent = [client.send(LONG) for client in clients]
    assert all(each.accepted for each in sent)
    assert clients[0].send((0.1, OFF)).end == (SUCCEEDED, 0, 'goal reached')
    assert [each.end for each in sent] == 10 * [(ABORTED, -1, 'replaced')]
    for client in clients:
        client.destroy()


def test_a_client_that_vanishes_leaves_the_server_as_it_was(
    running: tuple[int, FakeRobot, RosProcess], client: GoalClient
) -> None:
    with ros_node(running[0], 'vanishing') as lost:
        sent = GoalClient(lost).send((0.5, OFF))
        assert sent.accepted
    time.sleep(0.7)
    assert client.send((0.1, OFF)).end[0] == SUCCEEDED


def test_goals_every_10_ms_keep_the_control_active(client: GoalClient, robot: FakeRobot) -> None:
    sent = []
    for _ in range(200):
        sent.append(client.send(LONG))
        time.sleep(0.01)
    assert client.send((0.1, OFF)).end[0] == SUCCEEDED
    assert {each.end[0] for each in sent} == {ABORTED}
    assert robot.controlled


def test_a_deactivated_node_ends_its_goal_and_rejects_new_ones(
    client: GoalClient, robot: FakeRobot, process: RosProcess
) -> None:
    sent = client.send(LONG)
    assert sent.accepted
    assert robot.change_state(DEACTIVATE)
    assert sent.end == (ABORTED, -1, 'stop_requested')
    assert not client.send(LONG).accepted
    process.wait_for('not_active: the node is not active')
    assert robot.change_state(ACTIVATE)
    robot.wait_until_controlled()
    assert wait_until(lambda: client.send((0.1, OFF)).accepted)


def test_a_fault_ends_a_goal_with_its_reason(domain_id: int) -> None:
    with fake_robot(domain_id) as robot:
        with node(domain_id, f'{OPTIONS} -p use_sim_time:=true'):
            simulated = SimulatedTime(robot)
            client = GoalClient(robot.node)
            robot.wait_until_controlled()
            sent = client.send(LONG)
            assert sent.accepted
            robot.sending = False
            for _ in range(2):  # each time less than the timeout: no tick comes too late
                simulated.skip(3.0)
            assert sent.end == (ABORTED, -1, 'joint_states_stale')
            assert not client.send(LONG).accepted
            robot.sending = True
        robot.assert_safe()


def desired(sent: SentGoal) -> Sequence[float]:
    """Return the desired positions of a goal's newest feedback, at first the pose."""
    return sent.feedback[-1].desired.positions if sent.feedback else POSE


def test_with_replacement_a_goal_joins_the_active_goal(domain_id: int) -> None:
    from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

    joined = '-p allow_trajectory_replacement:=true -p allow_partial_joints_goal:=true'
    with fake_robot(domain_id) as robot:
        with node(domain_id, f'{OPTIONS} {joined}'):
            client = GoalClient(robot.node)
            publisher = robot.node.create_publisher(
                JointTrajectory, 'feedforward/joint_trajectory', 1
            )
            robot.wait_until_controlled()
            assert wait_until(lambda: publisher.get_subscription_count() > 0)
            first = client.send((2.0, OFF), LONG)
            assert wait_until(lambda: desired(first)[0] > POSE[0])
            # Long enough for the message below, and well before that one's end.
            second = client.send((0.0, POSE), (1.5, OFF))
            assert first.end == (ABORTED, -1, 'replaced')
            assert wait_until(lambda: second.feedback)
            # The motion goes on where the first goal was on its way, and not at the first point.
            assert POSE[0] < desired(first)[0] <= second.feedback[0].desired.positions[0]
            point = JointTrajectoryPoint(positions=[POSE[0]])
            point.time_from_start.sec = 3
            publisher.publish(JointTrajectory(joint_names=[JOINTS[0]], points=[point]))
            assert second.end == (SUCCEEDED, 0, 'goal reached')
            assert wait_until(lambda: np.allclose(desired(second)[1:], OFF[1:], rtol=1e-7))
            assert desired(second)[0] < OFF[0] - 0.01
        robot.assert_safe()


def test_a_node_that_is_stopped_answers_its_client_and_ends_in_zeros(domain_id: int) -> None:
    with fake_robot(domain_id) as robot:
        with node(domain_id, OPTIONS) as process:
            client = GoalClient(robot.node)
            robot.wait_until_controlled()
            sent = client.send(LONG)
            assert sent.accepted
            assert robot.lifecycle_state == 'active'  # so the request of the result has come too
            process.send(signal.SIGINT)
            assert sent.end == (ABORTED, -1, 'stop_requested')
            assert process.wait() == 0
        assert wait_until(lambda: not robot.newest.any())
        robot.assert_safe()
