# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""The bridge to a first point after time 0, from the measured or from the desired state."""

from collections.abc import Callable
from dataclasses import replace
import math
from typing import Any

import numpy as np
import pytest

from rnea_ros.feedforward.law import GravityFeedback
from rnea_ros.feedforward.trajectory import (
    JointRules,
    MotionState,
    Reference,
    Trajectory,
    TrajectoryError,
    TrajectoryPoint,
    TrajectoryRequest,
    compile_trajectory,
)
from support.control.control_rig import Array, Rig, setpoint, swing, two_joint_arm

NAMES = ('shoulder', 'elbow')
AT_REST = (0.0, 0.0)
MEASURED = ((0.02, -0.03), (0.1, 0.2))
FROM_REFERENCE = JointRules(
    joint_names=NAMES, lower=np.full(2, -8.0), upper=np.full(2, 8.0),
    continuous=np.array([False, True]), velocity_limits=np.full(2, 5.0), start_tolerance=0.1,
    interpolate_from_desired_state=True,
)
GOAL = TrajectoryPoint(2.0, (1.0, 2.0), AT_REST, AT_REST)


def state(*rows: tuple[float, float]) -> MotionState:
    return MotionState(*(np.array(row) for row in (*rows, AT_REST)))


DESIRED = state((0.3, 0.2), (0.5, -0.5), (0.7, 0.9))


def compiled(
    *points: TrajectoryPoint, rules: JointRules = FROM_REFERENCE,
    desired: MotionState | None = DESIRED, start_time: float | None = None,
    names: tuple[str, ...] = NAMES,
) -> Trajectory:
    position, velocity = MEASURED
    motion = compile_trajectory(
        TrajectoryRequest.of_points(names, points, start_time), rules, now=100.0,
        position=position, velocity=velocity, desired=desired,
    )
    assert isinstance(motion, Trajectory)
    return motion


def at(motion: Trajectory, time: float) -> Array:
    return np.array(motion.state(time)[:3])


def test_the_way_can_begin_at_the_desired_state() -> None:
    motion = compiled(GOAL)
    np.testing.assert_allclose(at(motion, 0.0), DESIRED[:3], rtol=1e-9, atol=1e-10)
    before_goal = at(motion, math.nextafter(2.0, 0.0))
    np.testing.assert_allclose(before_goal, ((1.0, 2.0), AT_REST, AT_REST), atol=1e-9)


def test_without_a_reference_it_begins_where_the_robot_is() -> None:
    motion = compiled(GOAL, desired=None)
    np.testing.assert_allclose(at(motion, 0.0), (*MEASURED, AT_REST), atol=1e-12)
    assert motion.start_time is None


def test_a_trajectory_from_the_desired_state_starts_now() -> None:
    assert compiled(GOAL).start_time == 100.0
    assert compiled(GOAL, start_time=103.0).start_time == 103.0


def test_a_first_point_at_time_0_must_be_near_the_measured_position() -> None:
    near_robot = TrajectoryPoint(0.0, MEASURED[0], AT_REST)
    assert compiled(near_robot, GOAL).start_time is None
    near_wanted = TrajectoryPoint(0.0, (0.3, 0.2), AT_REST)
    with pytest.raises(TrajectoryError, match="start_too_far, point 0, joint 'shoulder'"):
        compiled(near_wanted, GOAL)


def test_a_continuous_joint_is_shifted_by_turns_to_the_desired_position() -> None:
    turned = DESIRED._replace(position=np.array((0.3, 0.2 + 4.0 * math.pi)))
    motion = compiled(GOAL, desired=turned)
    np.testing.assert_allclose(motion.final_position, (1.0, 2.0 + 4.0 * math.pi))
    start = compiled(TrajectoryPoint(0.0, MEASURED[0], AT_REST), GOAL, desired=turned)
    np.testing.assert_allclose(start.final_position, (1.0, 2.0 + 4.0 * math.pi))


def test_joints_left_out_hold_the_desired_position() -> None:
    rules = replace(FROM_REFERENCE, allow_partial_joints_goal=True)
    goal = TrajectoryPoint(2.0, (1.0,), (0.0,), (0.0,))
    motion = compiled(goal, rules=rules, names=('shoulder',))
    for time in (0.0, 1.0, 2.0):
        np.testing.assert_array_equal(at(motion, time)[:, 1], (0.2, 0.0, 0.0))


# The future state of the reference


def reference_in_motion() -> Reference:
    reference = Reference(2, setpoint_timeout=0.2)
    reference.accept(swing(NAMES, AT_REST, (1.0, -2.0), 2.0), None)
    reference.advance(50.0)
    reference.advance(50.5)
    return reference


@pytest.mark.parametrize(('change', 'position'), [
    (lambda reference: reference.hold(np.array((0.1, 0.2))), (0.1, 0.2)),
    (lambda reference: reference.advance(70.0), (1.0, -2.0)),
    (lambda reference: reference.clear(), None),
], ids=['held', 'over', 'cleared'])
def test_the_future_state_is_the_held_position_if_there_is_one(
    change: Callable[[Reference], Any], position: tuple[float, float] | None
) -> None:
    reference = reference_in_motion()
    change(reference)
    expected = reference.state_at(80.0)
    if position is None:
        assert expected is None
    else:
        assert expected is not None
        np.testing.assert_array_equal(expected[:3], (position, AT_REST, AT_REST))


def test_the_future_state_of_a_set_point_is_at_rest_after_its_timeout() -> None:
    reference = Reference(2, setpoint_timeout=0.2)
    reference.accept(setpoint(NAMES, (0.1, 0.2), 0.5), None)
    reference.advance(50.0)
    for time, velocity in ((50.1, 0.5), (50.3, 0.0)):
        expected = reference.state_at(time)
        assert expected is not None
        np.testing.assert_array_equal(expected[:2], ((0.1, 0.2), (velocity, velocity)))


@pytest.mark.parametrize('busy', [0, 150])
def test_a_replacing_motion_does_not_jump_after_a_long_check(busy: int) -> None:
    rig = Rig(two_joint_arm(), mode=GravityFeedback, kp=(50.0,), ramp_duration=0.1)
    rig.activate()
    rig.controller.follow(swing(NAMES, rig.q, rig.q + 1.0, 2.0), None)
    rig.run(0.7)
    now, desired = rig.now, rig.controller.reference_at(rig.now)
    rules = replace(FROM_REFERENCE, continuous=np.zeros(2, dtype=np.bool_))
    goal = TrajectoryPoint(1.5, AT_REST, AT_REST, AT_REST)
    motion = compile_trajectory(
        TrajectoryRequest.of_points(NAMES, [goal]), rules, now=now, position=rig.q,
        velocity=rig.qd, desired=desired,
    )
    rig.run(busy * rig.period)
    rig.controller.follow(motion, motion.start_time)
    positions = []
    for _ in range(20):
        positions.append(rig.desired()[0])
        rig.tick()
    # At 0.75 rad/s a position goes 0.75 mrad a tick; the two motions are 10 mrad apart at most.
    assert np.abs(np.diff(positions, axis=0)).max() < (1e-3 if busy == 0 else 1.2e-2)
    assert motion.start_time == now
