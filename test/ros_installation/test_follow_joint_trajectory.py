# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""The action ``~/follow_joint_trajectory`` over real DDS; rules: test_action_goals.py."""

from collections.abc import Iterator, Sequence
import signal
from typing import Any

import numpy as np
import pytest

from support.ros.fake_robot import JOINTS, POSE, FakeRobot, fake_robot, node
from support.ros.ros_process import NO_ROS, RosProcess, new_domain_id, wait_until

pytest.importorskip('rclpy', reason=NO_ROS)
pytest.importorskip('control_msgs.action', reason='control_msgs (ROS 2) is not installed')

from control_msgs.action import FollowJointTrajectory
from control_msgs.msg import JointTolerance
from rclpy.action import ActionClient

from rnea_ros.ros import trajectory_message

pytestmark = pytest.mark.ros

SUCCEEDED, CANCELED, ABORTED = 4, 5, 6
OFF = tuple(position + 0.02 for position in POSE)
"""A position near the fake robot's pose; the fake robot never moves."""

LONG = (3600.0, OFF)
"""A last point that no test waits for."""

OPTIONS = '-p mode:=feedforward -p constraints.fer_joint7.goal:=0.5'


class SentGoal:
    """A goal on its way: accepted or not, its feedback, its result."""

    def __init__(self, client: Any, message: Any) -> None:
        self.feedback: list[Any] = []
        self._result: Any = None
        self._answer = client.send_goal_async(
            message, feedback_callback=lambda each: self.feedback.append(each.feedback)
        )
        self._answer.add_done_callback(self._on_answer)

    def _on_answer(self, answer: Any) -> None:
        if answer.result().accepted:
            self._result = answer.result().get_result_async()

    @property
    def accepted(self) -> bool:
        """Whether the goal was accepted, once that is known; the result is asked for then."""
        assert wait_until(self._answer.done)
        return bool(self._answer.result().accepted)

    def cancel(self) -> bool:
        """Cancel the goal, once it is accepted; return whether the server agreed."""
        assert self.accepted
        future = self._answer.result().cancel_goal_async()
        assert wait_until(future.done)
        return bool(future.result().goals_canceling)

    @property
    def end(self) -> tuple[int, int, str]:
        """Status, error code and first word of the error string, once the goal has ended."""
        assert wait_until(lambda: self._result is not None and self._result.done())
        answer = self._result.result()
        return answer.status, answer.result.error_code, answer.result.error_string.split(':')[0]


class GoalClient:
    """Sends goals to the node ``feedforward``; its node is spun in a thread."""

    def __init__(self, node: Any) -> None:
        self._executor = node.executor
        # In the node's thread: rclpy shows it to the executor before it is complete.
        made = self._executor.create_task(
            ActionClient, node, FollowJointTrajectory, 'feedforward/follow_joint_trajectory'
        )
        assert wait_until(made.done)
        self._client: Any = made.result()
        assert wait_until(self._client.server_is_ready)

    def send(
        self, *points: tuple[float, Any], joints: Sequence[str] = JOINTS, path: Any = (),
    ) -> SentGoal:
        """Send a goal of times and positions, with tolerances of the path."""
        times, positions = zip(*points, strict=True)
        zeros = np.zeros((len(points), 7))
        trajectory = trajectory_message(joints, times, positions, zeros, zeros)
        goal = FollowJointTrajectory.Goal(trajectory=trajectory, path_tolerance=[*path])
        return SentGoal(self._client, goal)

    def destroy(self) -> None:
        """Leave, whatever is under way, in the node's thread, which may be about to wait."""
        assert wait_until(self._executor.create_task(self._client.destroy).done)


@pytest.fixture(scope='module')
def running() -> Iterator[tuple[FakeRobot, RosProcess]]:
    """An active node and its robot, shared by tests that leave it active."""
    domain_id = new_domain_id()
    with fake_robot(domain_id) as robot, node(domain_id, OPTIONS) as process:
        robot.wait_until_controlled()
        yield robot, process
        robot.assert_safe()


@pytest.fixture
def client(running: tuple[FakeRobot, RosProcess]) -> Iterator[GoalClient]:
    client = GoalClient(running[0].node)
    yield client
    client.destroy()


def test_a_goal_gets_feedback_and_ends_when_replaced_or_reached(client: GoalClient) -> None:
    sent = client.send((0.2, OFF), LONG)
    assert wait_until(lambda: sent.feedback)
    feedback = sent.feedback[-1]
    assert tuple(feedback.joint_names) == JOINTS
    assert list(feedback.actual.positions) == list(POSE)
    second = client.send((0.1, OFF))
    assert sent.end == (ABORTED, -1, 'replaced')
    assert second.end == (SUCCEEDED, 0, 'goal reached')


def test_a_goal_is_canceled_aborted_and_rejected_with_its_code(
    client: GoalClient, running: tuple[FakeRobot, RosProcess]
) -> None:
    sent = client.send(LONG)
    assert sent.cancel()
    assert sent.end == (CANCELED, 0, 'cancelled')
    assert not sent.cancel()
    sent = client.send((0.5, OFF), LONG, path=[JointTolerance(name='fer_joint3', position=0.01)])
    assert sent.end == (ABORTED, -4, 'path_tolerance')
    assert not client.send(LONG, joints=('x', *JOINTS[1:])).accepted
    running[1].wait_for('goal rejected, INVALID_JOINTS: unknown_joint')


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
