# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""From a request to a message with efforts, without a node."""

from dataclasses import replace
import math
from typing import Any

import numpy as np
import pytest

from support.control.control_rig import Array, mixed_arm
from support.ros.ros_process import NO_ROS

pytest.importorskip('rclpy', reason=NO_ROS)

from rnea_ros.errors import RequestRejectedError
from rnea_ros.feedforward.trajectory import TrajectoryError, TrajectoryPoint, TrajectoryRequest
from rnea_ros.node.parameters import PARAMETERS
from rnea_ros.trajectory_effort.planner import MAX_POINTS, EffortPlanner

MODEL = mixed_arm()
JOINTS = ('turn', 'lift', 'bend')
"""Joints of the trajectory controller: without the gripper, and in another order."""

MEASURED = np.array([0.1, 0.2, 0.3, 0.4])
NOW = 1000.0


def planner(**given: Any) -> EffortPlanner:
    values = {name: declared.default for name, declared in PARAMETERS.items()}
    values |= {'resample': 0.1, 'effort_limits': [500.0]}
    return EffortPlanner(MODEL, JOINTS, values | given)


def measured(names: tuple[str, ...]) -> Array:
    return MEASURED[[MODEL.joint_names.index(name) for name in names]]


def request(
    *points: TrajectoryPoint, names: tuple[str, ...] = JOINTS, start: float | None = None
) -> TrajectoryRequest:
    return TrajectoryRequest.of_points(names, points, start)


def plan(asked: TrajectoryRequest, **given: Any) -> Any:
    return planner(**given).plan(asked, NOW, MEASURED, np.zeros(4)).message


def end(names: tuple[str, ...] = JOINTS, *, time: float = 1.0) -> TrajectoryPoint:
    zero = (0.0,) * len(names)
    return TrajectoryPoint(time, (measured(names) + 0.2).tolist(), zero)


def test_joints_stand_in_the_order_of_the_request_each_with_its_own_effort() -> None:
    names = ('bend', 'turn', 'lift')
    message = plan(request(end(names), names=names))
    assert message.joint_names == list(names)
    q = MEASURED + np.array([0.2, 0.2, 0.2, 0.0])
    held = MODEL.gravity_torques(q)[[MODEL.joint_names.index(name) for name in names]]
    np.testing.assert_allclose(message.points[-1].effort, held, atol=1e-9)
    np.testing.assert_allclose(message.points[0].positions, measured(names), atol=1e-12)


def test_times_are_those_given_to_the_nanosecond_and_increase() -> None:
    times = (1.1, 1.3 + 1e-9, 1.7, 123.456789012)
    points = [end(time=time) for time in times]
    message = plan(request(*points), resample=0.05)
    stamps = [p.time_from_start.sec * 10**9 + p.time_from_start.nanosec for p in message.points]
    assert stamps[0] == 0
    assert (np.diff(stamps) > 0).all()
    assert {round(1e9 * time) for time in times} <= set(stamps)


def test_too_many_points_are_rejected_before_any_is_made() -> None:
    reason = f'^too_many_points: .* more than {MAX_POINTS}$'
    with pytest.raises(RequestRejectedError, match=reason):
        plan(request(end(time=2e9)), resample=0.001)


def test_a_whole_turn_of_a_continuous_joint_is_taken_off() -> None:
    positions = np.add(measured(JOINTS), (4.0 * math.pi + 0.1, 0.0, 0.0)).tolist()
    message = plan(request(TrajectoryPoint(1.0, positions, (0.0,) * 3)))
    assert message.points[-1].positions[0] == pytest.approx(measured(JOINTS)[0] + 0.1)


def test_a_start_that_has_passed_is_joined_where_the_motion_is_now() -> None:
    message = plan(request(end(time=10.0), start=NOW - 4.0))
    first = message.points[0]
    assert first.time_from_start.sec == 4
    np.testing.assert_allclose(first.positions, measured(JOINTS))


def test_a_trajectory_too_far_ahead_after_planning_is_rejected() -> None:
    make = planner(start_tolerance=0.1)
    made = make.plan(request(end(time=1.0), start=NOW + 1.0), NOW, MEASURED, np.zeros(4))
    for now in (NOW, NOW + 1.0, NOW + 1.3):
        make.check_start(made, now, MEASURED)
    with pytest.raises(TrajectoryError, match='start_too_far') as rejected:
        make.check_start(made, NOW + 1.9, MEASURED)
    assert rejected.value.joint in JOINTS
    make.check_start(made, NOW + 1.9, MEASURED + 0.2)


def test_efforts_of_the_request_count_only_with_use_trajectory_effort() -> None:
    own = replace(end(), efforts=(5.0, 6.0, 7.0))
    start = TrajectoryPoint(0.0, measured(JOINTS).tolist(), (0.0,) * 3, efforts=(5.0, 6.0, 7.0))
    without, added = (
        plan(request(start, own), use_trajectory_effort=use).points for use in (False, True)
    )
    difference = np.subtract(added[0].effort, without[0].effort)
    np.testing.assert_allclose(difference, (5.0, 6.0, 7.0), atol=1e-9)
    np.testing.assert_allclose(added[-1].effort, without[-1].effort)


def test_the_plan_has_the_greatest_share_of_a_limit() -> None:
    plan = planner(effort_limits=[500.0, 500.0, 40.0]).plan(
        request(end()), NOW, MEASURED, np.zeros(4)
    )
    efforts = np.abs([point.effort for point in plan.message.points])
    assert plan.greatest_share == pytest.approx((efforts / (500.0, 500.0, 40.0)).max())


def test_a_cancel_is_rejected() -> None:
    with pytest.raises(TrajectoryError, match=r'^no_points'):
        plan(request())


def test_efforts_of_a_message_are_in_the_drivers_unit_and_limits_are_not() -> None:
    scale = np.array([10.0, -0.5, 2.0])
    own = {'command_scale': scale.tolist(), 'effort_limits': [200.0]}
    expected, scaled = plan(request(end()), effort_limits=[200.0]), plan(request(end()), **own)
    for point, in_newton_metres in zip(scaled.points, expected.points, strict=True):
        np.testing.assert_allclose(point.effort, scale * np.array(in_newton_metres.effort))
