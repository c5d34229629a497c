# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""The action server's goals in virtual time; messages and rclpy's server are replaced."""

from collections.abc import Iterator, Mapping, Sequence
import sys
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from support.ros.ros_process import NO_ROS

pytest.importorskip('rclpy', reason=NO_ROS)

from rclpy.action import CancelResponse, GoalResponse
from trajectory_msgs.msg import JointTrajectoryPoint

from rnea_ros.node import follow_joint_trajectory as module
from rnea_ros.ros import seconds, set_seconds, trajectory_message
from support.ros.fake_robot import JOINTS, POSE
from support.ros.virtual_node import virtual_node

OFF = np.add(POSE, 0.02)
LONG = (60.0, OFF)
ABORTED, SUCCEEDED, CANCELED = 'aborted', 'succeeded', 'canceled'


class Feedback:
    """The fields of ``FollowJointTrajectory.Feedback`` in control_msgs 6.3 and newer."""

    def __init__(self, joint_names: Sequence[str]) -> None:
        self.joint_names, self.index = joint_names, 0
        self.header = SimpleNamespace(stamp=SimpleNamespace())
        self.desired, self.actual, self.error = (JointTrajectoryPoint() for _ in range(3))


ACTION = SimpleNamespace(Result=SimpleNamespace, Feedback=Feedback)


class Goal:
    """A goal, as rclpy hands it to the server; ``end``: status, error code and string."""

    def __init__(self, server: Any, message: Any) -> None:
        self.request, self.feedback, self._server = message, list[Any](), server
        self._status = ''
        self.end: Any = None
        self.publish_feedback = self.feedback.append
        self.accepted = server.on_goal(message) is GoalResponse.ACCEPT
        if self.accepted:
            server.on_accepted(self)

    def execute(self) -> None:
        assert self.end is None

    def canceled(self) -> None:
        self._status = CANCELED

    def succeed(self) -> None:
        self._status = SUCCEEDED

    def abort(self) -> None:
        self._status = ABORTED

    def cancel(self) -> bool:
        return self._server.on_cancel(self) is CancelResponse.ACCEPT

    def conclude(self, end: Any) -> None:
        assert self.end is None, 'a goal ends once'
        result = end(self)
        self.end = self._status, result.error_code, result.error_string

    @property
    def why(self) -> tuple[str, int, str]:
        return *self.end[:2], self.end[2].partition(':')[0]


class Server:
    """rclpy's action server."""

    notify_execute: Any = True

    def __init__(self, node: Any, kind: Any, name: str, execute: Any, **callbacks: Any) -> None:
        assert (kind, name) == (ACTION, '~/follow_joint_trajectory')
        self.on_goal = callbacks['goal_callback']
        self.on_accepted = callbacks['handle_accepted_callback']
        self.on_cancel = callbacks['cancel_callback']
        self.destroyed = False
        node.rig.server = self
        self.notify_execute = lambda handle, end: handle.conclude(end)

    def destroy(self) -> None:
        self.destroyed = True


def tolerances(positions: Mapping[str, float] | None) -> list[SimpleNamespace]:
    return [
        SimpleNamespace(name=name, position=value, velocity=0.0, acceleration=0.0)
        for name, value in (positions or {}).items()
    ]


class GoalRig:
    """A node whose action server is served goals by the test."""

    def __init__(self, rig: Any) -> None:
        self.rig = rig

    def send(
        self, *points: tuple[float, Any], joints: Sequence[str] = JOINTS,
        path: Mapping[str, float] | None = None, tolerance: Mapping[str, float] | None = None,
        goal_time: float = 0.0, speed: float = 0.0, **others: Any,
    ) -> Goal:
        times, positions = zip(*points, strict=True) if points else ((), ())
        rest = np.zeros((len(points), 7))
        message = SimpleNamespace(
            trajectory=trajectory_message(joints, times, positions, rest + speed, rest),
            multi_dof_trajectory=SimpleNamespace(points=[]), component_path_tolerance=[],
            component_goal_tolerance=[], path_tolerance=tolerances(path),
            goal_tolerance=tolerances(tolerance), goal_time_tolerance=SimpleNamespace(),
        )
        set_seconds(message.goal_time_tolerance, goal_time)
        vars(message).update(others)
        return Goal(self.rig.server, message)


@pytest.fixture
def goals(monkeypatch: pytest.MonkeyPatch) -> Iterator[GoalRig]:
    name = 'control_msgs.action'
    monkeypatch.setitem(sys.modules, 'control_msgs', SimpleNamespace())
    monkeypatch.setitem(sys.modules, name, SimpleNamespace(FollowJointTrajectory=ACTION))
    monkeypatch.setattr(module, '_DeferredServer', Server)
    options: dict[str, Any] = {
        'mode': 'feedforward', 'constraints__fer_joint7__goal': 0.5, 'action_monitor_rate': 10.0,
    }
    with virtual_node(**options) as rig:
        rig.tremble()
        rig.wait_until_controlled()
        yield GoalRig(rig)


def test_a_goal_succeeds_after_feedback_of_desired_measured_and_error(goals: GoalRig) -> None:
    sent = goals.send((0.5, OFF), (1.0, POSE))
    goals.rig.run(2.0)
    assert sent.end == (SUCCEEDED, 0, 'goal reached')
    assert len(sent.feedback) == pytest.approx(10, abs=1)
    times = [seconds(feedback.desired.time_from_start) for feedback in sent.feedback]
    np.testing.assert_allclose(np.diff(times), 0.1, atol=1e-6)
    for time, feedback in zip(times, sent.feedback, strict=True):
        assert tuple(feedback.joint_names) == JOINTS
        np.testing.assert_allclose(feedback.actual.positions, POSE, atol=1e-8)
        error = np.subtract(feedback.desired.positions, feedback.actual.positions)
        np.testing.assert_allclose(feedback.error.positions, error, atol=1e-12)
        assert feedback.index == (time > 0.5)
        assert len(feedback.desired.accelerations) == len(feedback.desired.velocities) == 7
        assert seconds(feedback.actual.time_from_start) == pytest.approx(time)
    stamps = [seconds(feedback.header.stamp) for feedback in sent.feedback]
    np.testing.assert_allclose(np.diff(stamps), 0.1, atol=1e-6)
    assert stamps[-1] == pytest.approx(goals.rig.time.time() - 1.0, abs=0.15)
    assert not sent.cancel(), 'it has ended'


def test_a_cancelled_goal_is_canceled_and_another_one_can_follow(goals: GoalRig) -> None:
    sent = goals.send(LONG)
    goals.rig.run(0.2)
    assert sent.cancel()
    assert sent.end == (CANCELED, 0, 'cancelled')
    second = goals.send((0.1, OFF))
    assert not sent.cancel()
    goals.rig.run(0.5)
    assert second.end == (SUCCEEDED, 0, 'goal reached')


def test_a_new_goal_a_trajectory_and_a_cancel_on_the_topic_abort(goals: GoalRig) -> None:
    first, second = goals.send(LONG), goals.send(LONG)
    assert first.why == (ABORTED, -1, 'replaced')
    goals.rig.run(0.2)
    goals.rig.send_trajectory((0.0, POSE))
    goals.rig.run(0.2)
    assert second.why == (ABORTED, -1, 'replaced')
    third = goals.send(LONG)
    goals.rig.run(0.2)
    goals.rig.send_trajectory()
    goals.rig.run(0.2)
    assert third.why == (ABORTED, -1, 'cancelled')
    assert goals.rig.logged('warning: goal aborted, INVALID_GOAL: replaced') == 2


def test_tolerances_are_stated_or_defaults_that_can_be_changed(goals: GoalRig) -> None:
    joint = 'constraints__fer_joint7'

    def end(**stated: Any) -> Any:
        sent = goals.send((0.1, OFF), **stated)
        goals.rig.run(1.0)
        return sent.end[:2]

    assert end(path={'fer_joint3': 0.01}) == (ABORTED, -4)
    assert end(tolerance={'fer_joint3': 0.01}, goal_time=0.1) == (ABORTED, -5)
    assert goals.rig.change(**{f'{joint}__trajectory': 0.01}).successful
    assert end() == (ABORTED, -4)
    assert end(path={'fer_joint7': -1.0}) == (SUCCEEDED, 0)
    limits = {f'{joint}__trajectory': 0.0, 'constraints__goal_time': 0.05, f'{joint}__goal': 0.01}
    assert goals.rig.change(**limits).successful
    assert end() == (ABORTED, -5)


def test_goals_are_rejected_counted_and_named(goals: GoalRig) -> None:
    active = goals.send(LONG)
    part = SimpleNamespace(points=[1])
    for words, fields in (
        ('INVALID_JOINTS: unknown_joint', {'joints': ('x', *JOINTS[1:])}),
        ('INVALID_GOAL: final_velocity', {'speed': 0.1}),
        ('INVALID_GOAL: invalid_tolerance', {'path': {'x': 0.1}}),
        ('INVALID_GOAL: invalid_tolerance', {'tolerance': {'fer_joint1': -2.0}}),
        ('INVALID_GOAL: multi_dof: multi_dof_trajectory', {'multi_dof_trajectory': part}),
        ('INVALID_GOAL: multi_dof: component_path', {'component_path_tolerance': [1]}),
        ('INVALID_GOAL: multi_dof: component_goal', {'component_goal_tolerance': [1]}),
    ):
        goals.rig.log.lines.clear()
        assert not goals.send((1.0, OFF), **fields).accepted
        assert goals.rig.logged(f'error: goal rejected, {words}') == 1, goals.rig.log.lines
    assert not goals.send().accepted
    goals.rig.run(1.0)
    assert goals.rig.count('follow_joint_trajectory/multi_dof') == 3
    assert goals.rig.count('follow_joint_trajectory/no_points') == 1
    assert active.feedback
    assert active.end is None


@pytest.mark.parametrize('stop', [True, False])
def test_a_stop_or_fault_ends_a_goal_and_rejects_new_ones(goals: GoalRig, *, stop: bool) -> None:
    rig, sent = goals.rig, goals.send(LONG)
    if stop:
        rig.node.trigger_deactivate()
    else:
        rig.robot.sending = False
    rig.run(1.0)
    assert sent.why == (ABORTED, -1, 'stop_requested' if stop else 'joint_states_stale')
    assert not goals.send(LONG).accepted
    assert rig.logged('error: goal rejected, INVALID_GOAL: not_active: ') == 1
    rig.robot.sending = True
    if not stop:
        rig.node.trigger_deactivate()
    rig.node.trigger_activate()
    rig.run(1.0)
    assert goals.send((0.1, OFF)).accepted


def test_a_process_that_ends_waits_for_the_result_on_its_way(goals: GoalRig) -> None:
    action, sent = goals.rig.node.action, goals.send(LONG)
    assert action.finishing()
    assert sent.why == (ABORTED, -1, 'stop_requested')
    assert not goals.send(LONG).accepted
    goals.rig.time.stall(0.9 * module.DELIVERY_TIME)
    assert action.finishing()
    goals.rig.time.stall(0.2 * module.DELIVERY_TIME)
    assert not action.finishing()
    action.destroy()
    assert goals.rig.server.destroyed
