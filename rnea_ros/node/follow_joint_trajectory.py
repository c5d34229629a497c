# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""
The action ``~/follow_joint_trajectory``: motions with tolerances, feedback and a result.

The control loop judges a goal at each tick. The executor accepts goals, publishes feedback and
sends results, all in short callbacks; it never waits for a motion.
"""

from __future__ import annotations

from collections.abc import Callable
import time
from typing import Any

from rclpy.action import ActionServer, CancelResponse, GoalResponse
from rclpy.qos import QoSProfile

from ..arrays import Array
from ..errors import RequestRejectedError
from ..feedforward import CONTROLLING, Reason
from ..feedforward.motion.goals import ErrorCode, GoalResult, GoalSample, error_code
from ..ros import MACHINE_TIME, seconds, set_seconds
from .motion_requests import REJECTIONS, GoalMotion, MotionRequests

ACTION = 'follow_joint_trajectory'

# A client whose request is lost waits without end, and rclpy's queue holds 10. With a depth of
# 10,000, clients got no answers over Fast DDS 3.2.
REQUESTS = QoSProfile(depth=1000)

# Time for which a result is kept, s; by default 900 s in Jazzy. rclpy publishes the status of all
# kept goals at each change: with 100 goals a second and 10 s, answers came 10 s late. A client
# asks for the result when its goal is accepted; later than this after the end it gets UNKNOWN.
RESULT_TIMEOUT = 2

DELIVERY_TIME = 0.1  # time for the delivery of the last result before the node ends, s


class _DeferredServer(ActionServer):
    """An action server whose goals end whenever the node says so, not in a callback that waits."""

    def notify_execute(self, goal_handle: Any, execute_callback: Any) -> None:
        """Run the callback that ends a goal; a goal that starts has none."""
        if execute_callback is not None:
            super().notify_execute(goal_handle, execute_callback)


class FollowJointTrajectory:
    """
    Serves the active control; it exists as long as the node.

    A client would wait without end for a server that is destroyed before its answer. So the
    server stays, and rejects goals while the node is not active. Without the package
    ``control_msgs`` there is no server.
    """

    def __init__(self, node: Any, motions: Callable[[], MotionRequests | None]) -> None:
        self._node = node
        self._motions = motions
        self._accepted: tuple[Any, GoalMotion] | None = None  # with the message
        self._active: tuple[Any, GoalMotion] | None = None  # with rclpy's handle
        self._closing = False
        self._ended_at = 0.0
        self._server: _DeferredServer | None = None
        try:
            from control_msgs.action import FollowJointTrajectory as Action
        except ImportError:
            node.get_logger().info(
                f'no action ~/{ACTION}: control_msgs is not installed (the PyPI wheels lack it; '
                'the topic ~/joint_trajectory works)'
            )
            return
        if not hasattr(ActionServer, 'notify_execute'):  # which the server replaces
            node.get_logger().error(f'no action ~/{ACTION}: rclpy lacks notify_execute')
            return
        self._type = Action
        period = 1.0 / node.get_parameter('action_monitor_rate').value
        self._timer = node.create_timer(period, self._monitor, clock=MACHINE_TIME)
        self._timer.cancel()  # it runs while a goal is pursued
        self._server = _DeferredServer(
            node, Action, f'~/{ACTION}',
            lambda handle: Action.Result(),  # not called: every goal ends by _conclude
            goal_callback=self._on_goal, handle_accepted_callback=self._on_accepted,
            cancel_callback=self._on_cancel, goal_service_qos_profile=REQUESTS,
            result_service_qos_profile=REQUESTS, cancel_service_qos_profile=REQUESTS,
            result_timeout=RESULT_TIMEOUT,
        )

    def finishing(self) -> bool:
        """Reject goals, end the active one; return whether a result may not be delivered yet."""
        self._closing = True
        if self._active is not None:
            self._active[1].goal.drop(Reason.STOP_REQUESTED)
            self._monitor()
        return time.monotonic() < self._ended_at + DELIVERY_TIME

    def destroy(self) -> None:
        """Destroy the server; rclpy's node does not."""
        if self._server is not None:
            self._server.destroy()

    def _on_goal(self, message: Any) -> GoalResponse:
        """Accept or reject a goal."""
        motions = self._motions()
        try:
            if motions is None or self._closing:
                raise RequestRejectedError('not_active', 'the node is not active')
            for part, content in (
                ('multi_dof_trajectory', message.multi_dof_trajectory.points),
                ('component_path_tolerance', message.component_path_tolerance),
                ('component_goal_tolerance', message.component_goal_tolerance),
            ):
                if content:
                    raise RequestRejectedError('multi_dof', f'{part} is not empty')
            motion = motions.goal(
                message.trajectory, message.path_tolerance, message.goal_tolerance,
                seconds(message.goal_time_tolerance),
            )
        except REJECTIONS as error:
            if motions is not None:
                motions.count(ACTION, error.word)
            self._node.get_logger().error(
                f'goal rejected, {error_code(error.word).name}: {error}', throttle_duration_sec=1.0
            )
            return GoalResponse.REJECT
        self._accepted = message, motion
        return GoalResponse.ACCEPT

    def _on_accepted(self, handle: Any) -> None:
        """Follow the goal that was just accepted instead of the active one."""
        assert self._accepted is not None
        message, motion = self._accepted
        assert handle.request is message
        motion.requests.controller.follow(motion.motion, motion.start, motion.goal)
        if self._active is not None:
            self._active[1].goal.drop(Reason.REPLACED)
            self._monitor()
        handle.execute()
        self._accepted, self._active = None, (handle, motion)
        self._timer.reset()

    def _on_cancel(self, handle: Any) -> CancelResponse:
        """Stop, if the goal is still pursued."""
        active, motion = self._active or (None, None)
        if motion is None or active != handle or motion.goal.result is not None:
            return CancelResponse.REJECT
        motion.requests.cancel(motion.goal)
        # This runs after rclpy has set the state to canceling, since both share one executor.
        self._conclude(GoalResult(ErrorCode.SUCCESSFUL, Reason.CANCELLED.value), cancelled=True)
        return CancelResponse.ACCEPT

    def _monitor(self) -> None:
        """Publish feedback of the active goal, or end it."""
        if self._active is None:
            return
        handle, motion = self._active
        goal, controller = motion.goal, motion.requests.controller
        if controller.state not in CONTROLLING:
            goal.drop(controller.reason or Reason.STOP_REQUESTED)
        if goal.result is not None:
            self._conclude(goal.result)
        elif goal.sample is not None:
            feedback = self._type.Feedback(joint_names=controller.joints)
            set_seconds(feedback.header.stamp, motion.requests.stamp_at(goal.sample.now))
            fill_feedback(feedback, goal.sample, motion.times)
            handle.publish_feedback(feedback)

    def _conclude(self, result: GoalResult, *, cancelled: bool = False) -> None:
        """End the active goal."""
        assert self._active is not None
        assert self._server is not None
        (active, _), self._active = self._active, None
        self._timer.cancel()
        self._ended_at = time.monotonic()

        def end(handle: Any) -> Any:
            if cancelled:
                handle.canceled()
            elif result.code is ErrorCode.SUCCESSFUL:
                handle.succeed()
            else:
                handle.abort()
            return self._type.Result(error_code=int(result.code), error_string=result.text)

        if result.code is not ErrorCode.SUCCESSFUL:
            self._node.get_logger().warning(f'goal aborted, {result.code.name}: {result.text}')
        self._server.notify_execute(active, end)


def fill_feedback(feedback: Any, sample: GoalSample, times: Array) -> None:
    """Write a goal's state, and times of its points, s, into feedback of any control_msgs."""
    for point, values in (
        (feedback.desired, sample.desired),
        (feedback.actual, sample.actual),
        (feedback.error, sample.error),
    ):
        point.positions, point.velocities = values[0].tolist(), values[1].tolist()
    feedback.desired.accelerations = sample.desired[2].tolist()
    set_seconds(feedback.desired.time_from_start, sample.motion_time)
    set_seconds(feedback.actual.time_from_start, sample.elapsed)
    if hasattr(feedback, 'index'):  # since control_msgs 6.3; not in Humble and Jazzy
        feedback.index = int(times.searchsorted(sample.motion_time))
