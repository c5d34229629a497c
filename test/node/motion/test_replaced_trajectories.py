# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""
Trajectory replacement from the message to the reference, tick by tick; no DDS.

The cases are those of ros2_control's joint_trajectory_controller (JTC), in
``test_trajectory_controller.cpp`` and ``test_trajectory_actions.cpp``: its joints 1 and 2 are the
shoulder here, its joint 3 the elbow, and its positions are ten times as large.
"""

from array import array
from collections import Counter
from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from support.control.control_rig import Array, Rig, free_rules, two_joint_arm
from support.ros.ros_process import NO_ROS

pytest.importorskip('rclpy', reason=NO_ROS)

from rclpy.serialization import serialize_message
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

from rnea_ros.feedforward import Reason
from rnea_ros.feedforward.laws import Feedforward
from rnea_ros.feedforward.motion import (
    ErrorCode,
    Goal,
    MotionLimits,
    Shaping,
    StreamSettings,
    default_tolerances,
)
from rnea_ros.node.motion_requests import MotionRequests
from rnea_ros.ros import set_seconds

JOINTS, SHOULDER = ('shoulder', 'elbow'), ('shoulder',)
TWO_POINTS = ((0.2, 0.3), (0.4, 0.5))
LIMITS = MotionLimits(*(np.full(2, limit) for limit in (2.0, 10.0, 500.0, -3.0, 3.0)))
Rows = Sequence[Sequence[float]]


class Arm:
    """
    An arm that follows its reference, and what judges motions for it.

    :param replacement: whether trajectories are joined to the active one
    :param path: path tolerance of goals, rad; 0 for none
    :ivar late: time that passes whenever the clock is read, s
    """

    def __init__(
        self, *, replacement: bool = True, path: float = 0.0, stream: StreamSettings | None = None
    ) -> None:
        rig = Rig(two_joint_arm(), mode=Feedforward, rate=500.0, ramp_duration=0.01, start=1000.0)
        rules = free_rules(
            JOINTS, allow_partial_joints_goal=True, allow_trajectory_replacement=replacement
        )
        tolerances = default_tolerances(JOINTS, dict.fromkeys(JOINTS, path), {}, 0.0, 0.0)
        rig.activate()
        self.rig, self.late, self.offset, self.began = rig, 0.0, 0.0, rig.now
        setup = SimpleNamespace(
            rules=rules, settings=rig.resolved, state_type=None, tolerances=tolerances,
            deceleration=None, stream=stream and LIMITS,
            parameters=SimpleNamespace(stream=stream),
        )
        log = SimpleNamespace(error=lambda *_, **__: None)
        parts: Any = (
            SimpleNamespace(get_logger=lambda: log), SimpleNamespace(setup=setup), rig.controller,
            SimpleNamespace(latest=self._latest, stamp=lambda: rig.now), Counter[str](),
        )
        self.motions = MotionRequests(*parts)

    def _latest(self) -> float:
        self.rig.now += self.late
        return float(self.rig.now)

    def message(
        self, step: float, q: Rows, names: Sequence[str] = JOINTS, *,
        start: float | None = None, qd: Rows = (),
    ) -> Any:
        """Return a trajectory with a step between its points, s; stamped after the arm's start."""
        message = JointTrajectory(joint_names=list(names))
        set_seconds(message.header.stamp, 0.0 if start is None else self.began + start)
        for k, row in enumerate(q):
            message.points.append(JointTrajectoryPoint(positions=array('d', row)))
            if qd:
                message.points[-1].velocities = array('d', qd[k])
            set_seconds(message.points[-1].time_from_start, step * (k + 1))
        return message

    def send(self, *arguments: Any, **named: Any) -> None:
        """Publish a :meth:`message`."""
        self.motions.on_message(serialize_message(self.message(*arguments, **named)))

    def pursue(self, *arguments: Any, **named: Any) -> Goal:
        """Send a :meth:`message` as a goal."""
        goal = self.motions.goal(self.message(*arguments, **named), [], [], 0.0)
        self.rig.controller.follow(goal.motion, goal.start, goal.goal)
        return goal.goal

    def run(self, seconds: float) -> Array:
        """Return the reference positions of some time, shape (ticks, 2)."""
        positions = []
        for _ in range(round(seconds / self.rig.period)):
            desired = self.rig.controller.motions.reference_at(self.rig.now + self.rig.period)
            if desired is not None:  # the robot follows its reference at an offset
                self.rig.q[:] = desired.position + self.offset
                self.rig.qd[:] = desired.velocity
            self.rig.tick()
            positions.append(self.reference)
        return np.array(positions)

    @property
    def reference(self) -> Array:
        """Reference positions now, shape (2,)."""
        return self.rig.desired()[0]


def steps(*positions: Array) -> float:
    """Return the greatest change of the velocity between two ticks, times the period."""
    return float(np.abs(np.diff(np.concatenate(positions), n=2, axis=0)).max())


def code(goal: Goal) -> ErrorCode | None:
    """Return the error code of a goal, None while it is pursued."""
    return None if goal.result is None else goal.result.code


def reason(goal: Goal) -> str:
    """Return the first word of the result of a goal that has ended."""
    assert goal.result is not None
    return goal.result.text.split(':')[0]


# --- JTC, test_trajectory_controller.cpp ---------------------------------------------------------


def test_execute_partial_traj_in_future() -> None:
    arm = Arm()
    arm.send(0.5, [(0.2, 0.4), (0.4, 0.8)], qd=[(0.02, 0.04), (0.0, 0.0)])
    arm.run(0.5)
    np.testing.assert_allclose(arm.reference, (0.2, 0.4), atol=1e-3)
    arm.send(0.5, [(-0.1,), (-0.2,)], SHOULDER, start=1.5, qd=[(-0.01,), (0.0,)])
    arm.run(2.1)
    np.testing.assert_allclose(arm.reference, (-0.2, 0.8), atol=1e-9)


def test_a_trajectory_partly_in_the_past_is_joined_at_its_next_point() -> None:
    arm = Arm()
    arm.send(0.5, TWO_POINTS)
    before = arm.run(0.6)
    arm.send(0.3, [(-5.0, -5.0), (-0.2, -0.4)], start=0.1)
    after = arm.run(0.2)
    assert steps(before[-10:], after) < 600.0 * arm.rig.period**2
    assert after.min() > -0.5
    np.testing.assert_allclose(after[-1], (-0.2, -0.4))


def test_blend_no_position_jump_under_speed_scaling() -> None:
    arm = Arm()
    arm.rig.controller.speed_scaling.set_target(0.5)
    arm.run(0.5)
    arm.send(1.0, [(1.1, 1.3), (2.1, 2.3)])
    moved = arm.run(1.0)
    assert 0.4 < arm.reference[0] < 0.7, 'half of the time to the first point'
    arm.send(1.0, [(0.0, 0.0), (-0.5, -0.5)])
    assert steps(moved[-10:], arm.run(0.5)) < 5.0 * arm.rig.period**2


# --- JTC, test_trajectory_actions.cpp ------------------------------------------------------------


@pytest.mark.parametrize('start', [None, 1.0])
def test_blend_action_preempt_aborts_old_goal(start: float | None) -> None:
    """Also ``blend_action_replaces_action_with_future_stamp``."""
    arm = Arm(path=0.05)
    first = arm.pursue(0.6, TWO_POINTS)
    arm.run(0.2)
    second = arm.pursue(0.4, [(0.1, 0.2)], start=start)
    arm.run(0.02)
    assert (reason(first), code(second)) == ('replaced', None)
    arm.run(0.4 if start is None else 1.2)
    assert code(second) is ErrorCode.SUCCESSFUL
    np.testing.assert_allclose(arm.reference, (0.1, 0.2))


def test_a_partial_goal_ends_with_the_joints_that_it_leaves_out() -> None:
    arm = Arm()
    arm.send(1.0, [(0.5, 0.5)])
    arm.run(0.2)
    goal = arm.pursue(0.2, [(0.1,)], SHOULDER)
    arm.run(0.5)
    assert code(goal) is None
    arm.run(0.4)
    assert code(goal) is ErrorCode.SUCCESSFUL


@pytest.mark.parametrize('misses', [False, True])
def test_a_goal_goes_on_with_a_trajectory_that_is_joined_to_its_motion(*, misses: bool) -> None:
    """As in JTC: the active goal is judged by the trajectory from the topic."""
    arm = Arm(path=0.05)
    goal = arm.pursue(0.4, TWO_POINTS)
    arm.run(0.2)
    arm.send(0.5, [(0.0,), (-0.2,)], SHOULDER)
    arm.run(0.8)
    assert code(goal) is None, 'the motion ends later than the goal'
    if misses:
        arm.offset = 0.1
        arm.run(0.01)
        assert code(goal) is ErrorCode.PATH_TOLERANCE_VIOLATED
        return
    arm.run(0.3)
    assert code(goal) is ErrorCode.SUCCESSFUL
    np.testing.assert_allclose(arm.reference, (-0.2, 0.5))


# --- races ---------------------------------------------------------------------------------------


def test_a_goal_that_was_joined_to_a_missed_motion_ends_with_its_reason() -> None:
    arm = Arm(path=0.05)
    first = arm.pursue(1.0, [(0.5, 0.5), (1.0, 1.0)])
    arm.run(0.2)
    goal = arm.motions.goal(arm.message(0.5, [(0.0, 0.0)]), [], [], 0.0)
    arm.offset = 0.1
    arm.run(0.01)
    held = arm.reference
    arm.rig.controller.follow(goal.motion, goal.start, goal.goal)
    arm.run(0.1)
    assert code(first) is ErrorCode.PATH_TOLERANCE_VIOLATED
    assert reason(goal.goal) == Reason.PATH_TOLERANCE.value
    np.testing.assert_array_equal(arm.reference, held)


def test_two_trajectories_in_one_tick_are_both_followed() -> None:
    arm = Arm()
    arm.send(0.5, [(0.5, 0.5), (1.0, 1.0)])
    arm.run(0.2)
    arm.send(0.5, [(0.0,)], SHOULDER)
    arm.send(0.5, [(0.1,)], ('elbow',))
    arm.run(1.0)
    np.testing.assert_allclose(arm.reference, (0.0, 0.1), atol=1e-12)


def test_a_trajectory_checked_for_long_does_not_start_in_the_past() -> None:
    arm = Arm()
    arm.send(1.0, [(0.5, 0.5), (5.0, 5.0)])
    before = arm.run(0.3)
    arm.late = 0.02
    arm.send(1.0, [(-0.5, -0.5), (-0.9, -0.9)])
    arm.late = 0.0
    now: Any = arm.rig.controller.motions.handover(arm.rig.now)
    assert now.active.join.begin > now.time + arm.rig.period
    after = arm.run(0.5)
    assert steps(after) < 10.0 * arm.rig.period**2
    assert before[-1, 0] < after[0, 0]


def test_set_points_are_followed_at_once() -> None:
    arm, legacy = Arm(), Arm(replacement=False)
    for each in (arm, legacy):
        each.send(1.0, [(0.5, 0.5), (1.0, 1.0)])
        each.run(0.2)
        each.send(0.0, [(0.05,)], SHOULDER)
    np.testing.assert_array_equal(arm.run(0.5), legacy.run(0.5))


# --- streams -------------------------------------------------------------------------------------


@pytest.fixture
def streaming() -> Arm:
    pytest.importorskip('ruckig', reason='ruckig is not installed')
    return Arm(replacement=False, path=0.05, stream=StreamSettings(Shaping.RUCKIG))


def accelerations(positions: Array) -> Array:
    """Return the accelerations of two joints, shape (ticks - 2, 2)."""
    return np.diff(positions, n=2, axis=0) / 0.002**2


def test_a_stream_goes_on_from_a_goal_and_a_trajectory_from_a_stream(streaming: Arm) -> None:
    goal = streaming.pursue(1.0, [(0.5, 0.5), (1.0, 1.0)], qd=[(0.5, 0.5), (0.0, 0.0)])
    parts = [streaming.run(0.6)]
    for k in range(20):
        streaming.send(0.0, [(0.3 + 0.01 * k, 0.3)])
        parts.append(streaming.run(0.05))
    assert (reason(goal), streaming.motions._rejections) == ('replaced', {})
    parts.append(streaming.run(1.0))
    positions = np.concatenate(parts)
    np.testing.assert_allclose(positions[-1], (0.49, 0.3), atol=0.02)
    qdd = accelerations(positions[-1100:])
    assert np.abs(qdd).max() <= 10.0
    assert np.abs(np.diff(qdd, axis=0)).max() <= 500.0 * 0.002 * 1.5
    streaming.send(0.5, [(0.5, 0.3)])
    np.testing.assert_allclose(streaming.run(0.6)[-1], (0.5, 0.3))


@pytest.mark.parametrize('window', [False, True])
def test_both_forms_of_moveit_servo_are_a_stream(streaming: Arm, *, window: bool) -> None:
    """One point a period ahead; or a window of points around now, with a stamp and velocities."""
    rates, period, parts = np.array((0.3, -0.2)), 0.034, []
    for k in range(40):
        first = rates * period * k
        if window:
            start = streaming.rig.now - streaming.began - 0.01
            streaming.send(period, [first + j * rates * period for j in range(3)], start=start,
                           qd=[rates] * 3)
        else:
            streaming.send(period, [first], qd=[rates])
        parts.append(streaming.run(period))
    parts.append(streaming.run(0.5))
    assert streaming.motions._rejections == {}
    end = rates * period * (41 if window else 39)
    np.testing.assert_allclose(streaming.reference, end, atol=0.03)
    assert np.abs(accelerations(np.concatenate(parts))).max() <= 10.0


def test_a_contact_ends_a_stream_until_it_pauses(streaming: Arm) -> None:
    def send(count: int) -> Array:
        parts = []
        for k in range(count):
            streaming.send(0.0, [(0.02 * k, 0.0)])
            parts.append(streaming.run(0.05))
        return np.concatenate(parts)

    send(20)
    motions = streaming.rig.controller.motions
    assert motions.end_by_contact(hold=True)
    held = send(10)
    np.testing.assert_array_equal(held, np.broadcast_to(held[0], held.shape))
    streaming.run(0.3)
    assert np.ptp(send(20), axis=0)[0] > 0.1
