# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""A client of the action follow_joint_trajectory, and goals for the fake robot."""

from collections.abc import Mapping, Sequence
from typing import Any

from support.ros.fake_robot import JOINTS, POSE
from support.ros.ros_process import wait_until

OFF = [position + 0.02 for position in POSE]
"""A position near the fake robot's pose; the fake robot never moves."""


def goal(
    *points: tuple[float, Sequence[float]], joints: Sequence[str] = JOINTS,
    path: Mapping[str, float] | None = None, tolerance: Mapping[str, float] | None = None,
    goal_time: float = 0.0, velocities: Sequence[float] = (),
) -> Any:
    """
    Return a goal; its points are times and positions.

    :param path: position tolerances by joint while the motion lasts
    :param tolerance: position tolerances by joint at its end
    :param goal_time: tolerance of the time of the end, s
    :param velocities: of the last point
    """
    from control_msgs.action import FollowJointTrajectory
    from control_msgs.msg import JointTolerance
    from rclpy.duration import Duration
    from trajectory_msgs.msg import JointTrajectoryPoint

    message = FollowJointTrajectory.Goal()
    message.trajectory.joint_names = list(joints)
    for time, positions in points:
        message.trajectory.points.append(JointTrajectoryPoint(
            positions=list(positions), time_from_start=Duration(seconds=time).to_msg()
        ))
    message.trajectory.points[-1].velocities = list(velocities)
    message.path_tolerance = [
        JointTolerance(name=name, position=value) for name, value in (path or {}).items()
    ]
    message.goal_tolerance = [
        JointTolerance(name=name, position=value) for name, value in (tolerance or {}).items()
    ]
    message.goal_time_tolerance = Duration(seconds=goal_time).to_msg()
    return message


class SentGoal:
    """A goal on its way: accepted or not, its feedback, its result."""

    def __init__(self, client: Any, message: Any) -> None:
        self.feedback: list[Any] = []
        self._answer = client.send_goal_async(
            message, feedback_callback=lambda each: self.feedback.append(each.feedback)
        )
        self._result: Any = None
        self._answered = False
        self._answer.add_done_callback(self._on_answer)

    def _on_answer(self, answer: Any) -> None:
        if answer.result().accepted:
            self._result = answer.result().get_result_async()
        self._answered = True

    @property
    def accepted(self) -> bool:
        """Whether the goal was accepted, once that is known; the result is asked for then."""
        assert wait_until(lambda: self._answered), 'no answer to a goal'
        return bool(self._answer.result().accepted)

    @property
    def handle(self) -> Any:
        """The client's handle of the accepted goal."""
        assert self.accepted
        return self._answer.result()

    def cancel(self) -> bool:
        """Cancel the goal; return whether the server agreed."""
        future = self.handle.cancel_goal_async()
        assert wait_until(future.done), 'no answer to a cancel'
        return bool(future.result().goals_canceling)

    @property
    def end(self) -> tuple[int, int, str]:
        """Status, error code and first word of the error string, once the goal has ended."""
        assert self.accepted
        assert wait_until(lambda: self._result is not None and self._result.done()), 'no result'
        answer = self._result.result()
        return answer.status, answer.result.error_code, answer.result.error_string.split(':')[0]

    @property
    def text(self) -> str:
        """The error string of its result."""
        assert self.end
        return str(self._result.result().result.error_string)


class GoalClient:
    """
    Sends goals to the node ``feedforward``.

    :param node: a node that is spun in a thread
    """

    def __init__(self, node: Any) -> None:
        from control_msgs.action import FollowJointTrajectory
        from rclpy.action import ActionClient
        from rclpy.qos import QoSProfile

        many = QoSProfile(depth=1000)  # by default, a client that stalls loses all but 10 answers
        self._executor = node.executor
        # In the node's thread: rclpy shows it to the executor before it is complete.
        made = self._executor.create_task(
            ActionClient, node, FollowJointTrajectory, 'feedforward/follow_joint_trajectory',
            goal_service_qos_profile=many, result_service_qos_profile=many,
            cancel_service_qos_profile=many,
        )
        assert wait_until(made.done), 'no action client'
        self._client: Any = made.result()
        assert wait_until(self._client.server_is_ready), 'no action server'

    def send(self, *points: tuple[float, Sequence[float]], **fields: Any) -> SentGoal:
        """Send a :func:`goal`."""
        return SentGoal(self._client, goal(*points, **fields))

    def destroy(self) -> None:
        """Leave, whatever is under way."""
        # In the node's thread, which else may be about to wait for it.
        assert wait_until(self._executor.create_task(self._client.destroy).done)
