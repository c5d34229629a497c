# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""Joints that are not commanded: a gripper on the arm, the torso below it, another arm."""

import math
from typing import Any

import numpy as np
import pytest

from rnea_ros import RobotModel
from rnea_ros.feedforward import CONTROLLING, Reason, State
from rnea_ros.feedforward.joint_samples import ACCEPTED_AFTER
from support.cases import each
from support.control.control_rig import Rig
from support.models.robots import LIMIT, joint, link, load, robot

NAN = math.nan
JOINTS = ('torso', 'left', 'gripper', 'right', 'hand')
Q = (0.1, 0.2, 0.3, 0.4, 0.5)
GRIPPER = 2


def two_armed_robot() -> RobotModel:
    """Return a torso that carries two arms of one joint with slow hands."""
    parents = ('base', 'trunk', 'upper', 'trunk', 'other')
    children = ('trunk', 'upper', 'finger', 'other', 'thumb')
    description = robot(
        link('base'), link('trunk', 5.0, com=(0.1, 0.0, 0.2)),
        link('upper', 2.0, com=(0.3, 0.0, 0.0)), link('finger', 0.5, com=(0.1, 0.0, 0.0)),
        link('other', 2.0, com=(0.3, 0.0, 0.0)), link('thumb', 0.5),
        *(joint(name, 'revolute', parent, child, xyz=(0.5, 0, 0), axis=(0, 1, 0))
          for name, parent, child in zip(JOINTS, parents, children, strict=True)),
    )
    slow = '<limit lower="-2" upper="2" effort="50" velocity="0.5"/>'
    return load(description.replace(LIMIT, slow))


def left_arm(**settings: Any) -> Rig:
    options: dict[str, Any] = {
        'joints': ('left',), 'rate': 200.0, 'ramp_duration': 0.1, 'velocity_limit_factor': 2.0,
    }
    return Rig(two_armed_robot(), q=Q, **(options | settings))


def active_rig(**settings: Any) -> Rig:
    rig = left_arm(**settings)
    rig.activate()
    return rig


def tick(rig: Rig, *samples: dict[str, Any]) -> None:
    """Let a period pass, some samples come that are accepted, and the control take its tick."""
    rig.wait()
    for sample in samples:
        assert rig.feed(**sample) is None
    rig.step()


def wrong_sample(fault: str, joint: str, t: float) -> dict[str, Any]:
    """Return a sample with a fault of one joint."""
    k, q, qd = JOINTS.index(joint), np.array(Q), np.zeros(5)
    if fault == 'silent':
        return {'names': [name for name in JOINTS if name != joint]}
    if fault == 'fast':
        qd[k] = 20.0
        q[k] += math.sin(20.0 * t)
    elif fault == 'nan velocity':
        qd[k] = NAN
    else:
        q[k] = {'steps': q[k] + 0.5 * (int(t / 0.2) % 2), 'nan': NAN, 'far': 1e300}[fault]
    return {'q': q, 'qd': qd}


@each('joint', ['torso', 'gripper', 'right', 'hand'])
@each('fault', ['fast', 'steps', 'nan', 'nan velocity', 'far', 'silent'])
def test_an_uncommanded_joint_never_ends_the_control(joint: str, fault: str) -> None:
    rig = active_rig()
    before = rig.gravity
    for number in range(160):
        tick(rig, wrong_sample(fault, joint, number * rig.period))
        assert rig.state() in CONTROLLING
    assert rig.states.age(rig.now, rig.resolved.joint_indices) == 0.0
    if joint in ('right', 'hand'):
        assert not rig.controller.flags
        np.testing.assert_array_equal(rig.commands[-1], before)
    elif fault in ('nan', 'far', 'silent'):
        assert rig.controller.flags == {Reason.UNCOMMANDED_STALE}
        np.testing.assert_array_equal(rig.commands[-1], before)
        assert [*rig.states.stale_joints(rig.now, 0.1)] == [joint]
    elif fault == 'nan velocity':
        assert not rig.controller.flags


def test_nothing_is_commanded_before_a_joint_that_counts_has_a_valid_value() -> None:
    rig = left_arm()
    for _ in range(20):
        tick(rig, {'names': [name for name in JOINTS if name != 'gripper']})
        assert rig.state() is State.WAITING
    tick(rig, {})
    assert rig.state() is State.RAMPING


def test_joints_of_another_arm_need_no_sample_and_a_gripper_no_velocity() -> None:
    rig = left_arm()
    for number in range(100):
        gripper = {'names': ('gripper',), 'q': (0.4 * number * rig.period,), 'qd': None}
        tick(rig, {'names': ('torso', 'left')}, gripper)
    assert rig.state() is State.ACTIVE
    assert not rig.controller.flags
    assert rig.states.velocity[GRIPPER] == pytest.approx(0.4, rel=1e-3)
    assert rig.feed(names=('left',), qd=None) is Reason.NO_VELOCITY


def test_a_new_position_that_persists_is_believed() -> None:
    rig = active_rig()
    rig.q[GRIPPER] += 1.0
    since = rig.now
    while rig.states.position[GRIPPER] != rig.q[GRIPPER]:
        rig.tick()
    assert rig.now - since == pytest.approx(ACCEPTED_AFTER, abs=2.0 * rig.period)
    rig.run(0.5)
    assert not rig.controller.flags
    np.testing.assert_allclose(rig.commands[-1], rig.gravity, rtol=1e-9)
    rig.qd[GRIPPER] = 1e6
    rig.run(0.5)
    assert rig.states.velocity[GRIPPER] == pytest.approx(2.0)  # within its bound


def test_two_positions_in_turn_are_not_believed() -> None:
    rig = active_rig()
    for number in range(100):
        rig.q[GRIPPER] = Q[GRIPPER] + (1.0 if number % 3 else 0.0)
        rig.tick()
        assert rig.states.position[GRIPPER] == Q[GRIPPER]


@each('gripper', [(), (('gripper', NAN),)])
def test_uncommanded_timeout_ends_the_control_without_a_valid_value(gripper: Any) -> None:
    rig = active_rig(uncommanded_timeout=0.5)
    names, q = zip(*zip(JOINTS[:2], Q, strict=False), *gripper, strict=True)
    newest = rig.now
    while rig.state() in CONTROLLING:
        tick(rig, {'names': names, 'q': q})
    assert rig.now - newest == pytest.approx(0.5, abs=2.0 * rig.period)
    assert rig.controller.reason is Reason.JOINT_STATES_STALE


def test_a_rejection_names_joint_value_bound_and_way_out() -> None:
    rig = active_rig()
    rig.wait()
    faults: list[tuple[dict[str, Any], str]] = [
        ({'q': (0.1, 1.2, 0.3, 0.4, 0.5)},
         "position_jump: joint 'left': position 1.2 is further from the last valid 0.2 than "),
        ({'qd': (0.0, 7.0, 0.0, 0.0, 0.0)},
         "velocity_too_high: joint 'left': velocity 7 exceeds 2; correct <limit velocity>"),
        ({'qd': (0.0, NAN, 0.0, 0.0, 0.0)}, 'set differentiate_velocity'),
    ]
    for sample, words in faults:
        assert rig.feed(**sample) is not None
        assert words in rig.states.complaint


def test_a_first_position_that_the_joint_cannot_have_is_rejected() -> None:
    rig = left_arm()
    for position, bound in ((50.0, 6), (-6.1, -6)):
        rig.wait()
        assert rig.feed(q=(0.0, position, 0.0, 0.0, 0.0)) is Reason.POSITION_OUT_OF_RANGE
        assert f"'left': position {position:g} is beyond {bound}" in rig.states.complaint
        assert 'correct the unit (not degrees or mm)' in rig.states.complaint
    assert rig.feed(q=(0.0, 5.9, 0.0, 0.0, 0.0)) is None


@each('effort', [100.1, -5000.0, 1e300, math.inf])
def test_a_measured_effort_that_the_joint_cannot_have_is_unknown(effort: float) -> None:
    rig = left_arm(ramp_duration=1.0)
    rig.effort = np.array([0.0, effort, 0.0, 0.0, 0.0])
    assert np.abs(rig.run(0.1)).max() < 1.0
    assert np.isnan(rig.states.effort[1])
    assert rig.states.rejections[Reason.EFFORT_TOO_HIGH] == 20
    assert 'effort_scale' in rig.states.complaint
