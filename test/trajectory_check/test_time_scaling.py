# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""The fastest time scaling: at the reported factor a limit is just reached."""

from dataclasses import replace
import math

from hypothesis import given, settings
from hypothesis import strategies as st
import numpy as np
import pytest

from rnea_ros.trajectory_check import Quantity, TrajectoryLimits
from support.models.robots import load
from support.recorded.checked_motions import ARM, at, checked, figures_of, motion, stretched

PIVOT = """
<robot name="pivot">
  <link name="base"/>
  <link name="arm"><inertial><origin xyz="0.5 0 0"/><mass value="2"/>
    <inertia ixx="0" iyy="0" izz="0" ixy="0" ixz="0" iyz="0"/></inertial></link>
  <joint name="shoulder" type="revolute"><parent link="base"/><child link="arm"/>
    <axis xyz="0 -1 0"/><limit lower="-3" upper="3" velocity="2" effort="20"/></joint>
</robot>
"""
"""A mass of 2 kg at 0.5 m that swings up about a level axis: M = 0.5, g = 9.81 cos(q)."""

RATE = 999.1
"""Hz: not a whole number of periods per segment, where rounding could add one."""


def greatest_share(s: float, seed: int, limits: TrajectoryLimits) -> float:
    """Return how much of an effort limit a random motion needs at s times its duration."""
    points = stretched(motion(np.random.default_rng(seed)), s)
    figures = figures_of(checked(points, limits, rate=RATE / s))
    return float((np.abs(figures.efforts.total) / limits.effort).max())


@settings(max_examples=8)
@given(seed=st.integers(0, 10_000), share=st.floats(1.05, 3.0))
def test_at_the_reported_factor_an_effort_just_reaches_its_limit(seed: int, share: float) -> None:
    points = motion(np.random.default_rng(seed))
    figures = figures_of(checked(points))
    # Limits above the efforts of gravity, so that some factor keeps them.
    heaviest = np.abs(figures.efforts.gravity).max(axis=0)
    limits = replace(figures.limits, effort=share * heaviest + 0.5)
    s = figures_of(checked(points, limits, rate=RATE)).effort_bound.stretch
    assert 0.0 < s < math.inf
    assert greatest_share(s, seed, limits) == pytest.approx(1.0, abs=1e-6)
    assert greatest_share(0.98 * s, seed, limits) > 1.0
    assert greatest_share(1.02 * s, seed, limits) <= 1.0 + 1e-9


@settings(max_examples=8)
@given(seed=st.integers(0, 10_000))
def test_at_the_factor_by_all_limits_none_is_violated_and_below_it_one_is(seed: int) -> None:
    points = motion(np.random.default_rng(seed))
    limits = TrajectoryLimits.of_model(ARM).with_limits(Quantity.ACCELERATION, {None: 4.0})
    s = figures_of(checked(points, limits)).bound.stretch
    assert not checked(stretched(points, s), limits).violations
    assert checked(stretched(points, 0.99 * s), limits).violations


def test_a_swing_that_is_known_in_closed_form_has_its_factor() -> None:
    model = load(PIVOT)
    # From hanging a quarter turn up to level: the effort is greatest at the start of one second.
    points = [at(0.0, 0.0, 0.0), at(1.0, 1.0, 0.0)]
    figures = figures_of(checked(points, model=model))
    # Cubic from rest to rest over 1 rad: 6 rad/s^2 at the start, where M a = 3 and g = 9.81.
    assert figures.efforts.total[1, 0] == pytest.approx(3.0 + 9.81)
    assert figures.effort_bound.stretch == pytest.approx(math.sqrt(3.0 / (20.0 - 9.81)))
    assert figures.effort_bound.time == 0.0
    # Velocity peaks at 1.5 rad/s of 2.
    assert figures.bound.stretch == pytest.approx(0.75)
    assert figures.bound.quantity is Quantity.VELOCITY


def test_gravity_that_helps_a_motion_leaves_more_room() -> None:
    # Down from level: at the start gravity pulls along, at the end it is 9.81 cos(1) against 3.
    figures = figures_of(checked([at(0.0, 0.0, 0.0), at(1.0, -1.0, 0.0)], model=load(PIVOT)))
    expected = math.sqrt(3.0 / (20.0 - 9.81 * math.cos(1)))
    assert figures.effort_bound.stretch == pytest.approx(expected)
    assert figures.effort_bound.time == 1.0


def test_no_factor_is_reported_if_gravity_alone_exceeds_the_limit() -> None:
    model = load(PIVOT.replace('effort="20"', 'effort="9"'))
    figures = figures_of(checked([at(0.0, 1.5, 0.0), at(2.0, -0.5, 0.0)], model=model))
    assert math.isinf(figures.effort_bound.stretch)
    assert math.isinf(figures.bound.stretch)
    # Heaviest where the arm is level.
    row = int(np.abs(figures.efforts.gravity[:, 0]).argmax())
    assert figures.effort_bound.time == pytest.approx(figures.efforts.time[row])


def test_without_effort_limits_efforts_bound_nothing() -> None:
    limits = replace(TrajectoryLimits.of_model(ARM), effort=np.full(ARM.nv, math.inf))
    points = motion(np.random.default_rng(1))
    assert figures_of(checked(points, limits)).effort_bound.stretch == 0.0


def test_a_held_pose_has_no_fastest_speed() -> None:
    pose = np.zeros(ARM.nv)
    pose[3] = -1.0
    figures = figures_of(checked([at(0.0, pose, 0 * pose), at(1.0, pose, 0 * pose)]))
    assert figures.bound.stretch < 1e-6
