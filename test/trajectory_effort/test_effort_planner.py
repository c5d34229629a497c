# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""From a request to a message with efforts, without a node; and the node's parameters."""

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from support.control.control_rig import Array, mixed_arm
from support.ros.ros_process import NO_ROS

pytest.importorskip('rclpy', reason=NO_ROS)

from rnea_ros.errors import InputError, RequestRejectedError
from rnea_ros.feedforward.motion import TrajectoryError, TrajectoryPoint, TrajectoryRequest
from rnea_ros.feedforward.settings import all_declarations
from rnea_ros.trajectory_effort.planner import (
    MAX_POINTS,
    PARAMETERS,
    EffortPlan,
    EffortPlanner,
    values_of,
)

MODEL = mixed_arm()
JOINTS = ('turn', 'lift', 'bend')
"""Joints of the trajectory controller: without the gripper, and in another order."""

MEASURED = np.array([0.1, 0.2, 0.3, 0.4])
NOW = 1000.0
Point = TrajectoryPoint
REST = (0.0, 0.0, 0.0)


def planner(**given: Any) -> EffortPlanner:
    values = {name: declared.default for name, declared in all_declarations((), ()).items()}
    values |= {'resample': 0.1, 'effort_limits': [500.0]}
    return EffortPlanner(MODEL, JOINTS, values | given)


def measured(names: tuple[str, ...] = JOINTS) -> Array:
    return MEASURED[[MODEL.joint_names.index(name) for name in names]]


def planned(
    *points: Point, names: tuple[str, ...] = JOINTS, start: float | None = None, **given: Any
) -> EffortPlan:
    request = TrajectoryRequest.of_points(names, points, start)
    return planner(**given).plan(request, NOW, MEASURED, np.zeros(4))


def end(names: tuple[str, ...] = JOINTS, *, time: float = 1.0) -> Point:
    return Point(time, (measured(names) + 0.2).tolist(), REST[: len(names)])


def test_joints_stand_in_the_order_of_the_request_each_with_its_own_effort() -> None:
    names = ('bend', 'turn', 'lift')
    message = planned(end(names), names=names).message
    assert message.joint_names == list(names)
    q = MEASURED + np.array([0.2, 0.2, 0.2, 0.0])
    held = MODEL.gravity_torques(q)[[MODEL.joint_names.index(name) for name in names]]
    np.testing.assert_allclose(message.points[-1].effort, held, atol=1e-9)
    np.testing.assert_allclose(message.points[0].positions, measured(names), atol=1e-12)


@pytest.mark.parametrize('fields', [0, 1, 2])
def test_omitted_fields_are_kept_and_joints_left_out_come_last(fields: int) -> None:
    names = ('bend', 'lift')
    points = [Point(t, (measured(names) + t).tolist(), *[(0.0, 0.0)] * fields) for t in (0.0, 1.0)]
    message = planned(
        *points, names=names, resample=0.0, allow_partial_joints_goal=True
    ).message
    assert message.joint_names == ['bend', 'lift', 'turn']
    assert len(message.points) == 2
    for k, point in enumerate(message.points):
        np.testing.assert_allclose(point.positions, [*points[k].positions, measured()[0]])
        sizes = [len(point.velocities), len(point.accelerations), len(point.effort)]
        assert sizes == [3 * (fields > 0), 3 * (fields > 1), 3]


def test_times_are_those_given_to_the_nanosecond_and_increase() -> None:
    times = (1.1, 1.3 + 1e-9, 1.7, 12.456789012)
    message = planned(*(end(time=time) for time in times), resample=0.05).message
    stamps = [p.time_from_start.sec * 10**9 + p.time_from_start.nanosec for p in message.points]
    assert stamps[0] == 0
    assert (np.diff(stamps) > 0).all()
    assert {round(1e9 * time) for time in times} <= set(stamps)


@pytest.mark.parametrize(('points', 'given', 'error', 'text'), [
    ((), {}, TrajectoryError, '^no_points'),
    ((end(time=2e9),), {'resample': 0.001}, RequestRejectedError,
     f'^too_many_points: .* more than {MAX_POINTS}$'),
    ((end(time=0.01),), {}, TrajectoryError, r'^velocity_limit, point 0, .*, at 0\.01 s$'),
    ((end(time=1.0), Point(2.0, (0.3, 9.0, 0.1), REST)), {}, TrajectoryError,
     r"^position_limit, point 1, joint 'lift': .*, at 2 s$"),
    ((Point(0.0, (9.0, 0.1, 0.3), REST), end()), {}, TrajectoryError, '^start_too_far, point 0'),
    ((end(),), {'effort_limits': [10.0]}, RequestRejectedError, '^effort_limit: joint'),
])
def test_a_request_that_breaks_a_rule_is_rejected(
    points: Any, given: Any, error: type[Exception], text: str
) -> None:
    with pytest.raises(error, match=text):
        planned(*points, **given)


def test_a_trajectory_too_far_ahead_after_planning_is_rejected() -> None:
    make, plan = planner(start_tolerance=0.1), planned(end(), start=NOW + 1.0)
    for now in (NOW, NOW + 1.0, NOW + 1.3):
        make.check_start(plan, now, MEASURED)
    with pytest.raises(TrajectoryError, match='start_too_far') as rejected:
        make.check_start(plan, NOW + 1.9, MEASURED)
    assert rejected.value.joint in JOINTS
    make.check_start(plan, NOW + 1.9, MEASURED + 0.2)


def test_efforts_of_a_message_are_in_the_drivers_unit_and_limits_are_not() -> None:
    limits, scale = np.array([500.0, 500.0, 40.0]), np.array([10.0, -0.5, 2.0])
    plain = planned(end(), effort_limits=limits.tolist())
    scaled = planned(end(), effort_limits=limits.tolist(), command_scale=scale.tolist())
    efforts = np.array([point.effort for point in plain.message.points])
    for point, effort in zip(scaled.message.points, efforts, strict=True):
        np.testing.assert_allclose(point.effort, scale * effort)
    share = (np.abs(efforts) / limits).max()
    for plan in (plain, scaled):
        assert plan.greatest_share == pytest.approx(share)
        assert plan.values['greatest_share_of_limit'] == f'{share:.3f}'
        assert plan.values['points'] == len(efforts)
        assert plan.summary.startswith(f'{len(efforts)} points, up to {100.0 * share:.0f} % of')


# Parameters


class Node:
    """A node with every parameter at its default, or at what is given."""

    def __init__(self, **given: Any) -> None:
        self._values = {name: declared.default for name, declared in PARAMETERS.items()} | given

    def get_parameter(self, name: str) -> SimpleNamespace:
        return SimpleNamespace(value=self._values[name])


def test_defaults_are_those_of_the_control_and_changes_come_before_the_node() -> None:
    own = ('trajectory_topic', 'joints', 'resample', 'joint_states_timeout')
    for name, declared in PARAMETERS.items():
        assert name in own or declared.default == all_declarations((), ())[name].default
    values = values_of(Node())
    assert (values['resample'], values['mode']) == (0.02, 'gravity')
    assert values_of(Node(), [SimpleNamespace(name='resample', value=1e-3)])['resample'] == 1e-3


@pytest.mark.parametrize(('name', 'value'), [
    ('resample', float('nan')), ('resample', 9.99e-4), ('resample', 10.1),
    ('joint_states_timeout', 0.09), ('friction.model', 'stribeck'), ('payload.mass', [-1.0]),
])
def test_a_value_that_cannot_be_used_is_rejected_by_name(name: str, value: Any) -> None:
    given = {name: value, 'payload.link': ['hand'] if name == 'payload.mass' else ['']}
    with pytest.raises(InputError) as caught:
        values_of(Node(**given))
    assert caught.value.argument.startswith(name.partition('.')[0])
