# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""The fastest time scaling: at the reported factor a limit is just reached."""

from dataclasses import replace
import math

import numpy as np
import pytest

from rnea_ros.trajectory_check import Quantity, TrajectoryLimits, report
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


@pytest.mark.parametrize('seed', range(4))
def test_at_the_reported_factor_a_limit_is_just_reached(seed: int) -> None:
    points = motion(np.random.default_rng(seed))
    figures = figures_of(checked(points))
    # Limits above the efforts of gravity, so that some factor keeps them.
    heaviest = np.abs(figures.efforts.gravity).max(axis=0)
    limits = replace(figures.limits, effort=(1.05 + 0.6 * seed) * heaviest + 0.5)
    s = figures_of(checked(points, limits, rate=RATE)).effort_bound.stretch
    assert 0.0 < s < math.inf

    def share(factor: float) -> float:
        found = figures_of(checked(stretched(points, factor), limits, rate=RATE / factor))
        return float((np.abs(found.efforts.total) / limits.effort).max())

    assert share(s) == pytest.approx(1.0, abs=1e-6)
    assert share(0.98 * s) > 1.0
    assert share(1.02 * s) <= 1.0 + 1e-9
    limits = TrajectoryLimits.of_model(ARM).with_limits(Quantity.ACCELERATION, {None: 4.0})
    s = figures_of(checked(points, limits)).bound.stretch
    assert not checked(stretched(points, s), limits).violations
    assert checked(stretched(points, 0.99 * s), limits).violations


def test_a_swing_that_is_known_in_closed_form_has_its_factor() -> None:
    # From level up, by a cubic over 1 rad in 1 s: 6 rad/s^2 at the start, where M a = 3 and
    # g = 9.81; velocity peaks at 1.5 rad/s of 2. Down: gravity pulls along at the start, at the
    # end it is 9.81 cos(1) against 3.
    for end, gravity, time in ((1.0, 9.81, 0.0), (-1.0, 9.81 * math.cos(1.0), 1.0)):
        figures = figures_of(checked([at(0.0, 0.0, 0.0), at(1.0, end, 0.0)], model=load(PIVOT)))
        assert figures.efforts.total[1, 0] == pytest.approx(9.81 + 3.0 * end)
        expected = math.sqrt(3.0 / (20.0 - gravity))
        assert figures.effort_bound.stretch == pytest.approx(expected)
        assert (figures.effort_bound.time, figures.effort_bound.joint) == (time, 'shoulder')
        assert figures.bound.stretch == pytest.approx(0.75)
        assert figures.bound.quantity is Quantity.VELOCITY
        assert figures.bound.time == pytest.approx(0.5)


def test_no_factor_is_reported_if_gravity_alone_exceeds_the_limit() -> None:
    model = load(PIVOT.replace('effort="20"', 'effort="9"'))
    found = checked([at(0.0, 1.5, 0.0), at(2.0, -0.5, 0.0)], model=model)
    figures = figures_of(found)
    assert math.isinf(figures.effort_bound.stretch)
    assert math.isinf(figures.bound.stretch)
    # Heaviest where the arm is level.
    row = int(np.abs(figures.efforts.gravity[:, 0]).argmax())
    assert figures.effort_bound.time == pytest.approx(figures.efforts.time[row])
    assert 'gravity alone requires 9.81 N m of shoulder, whose limit is 9 N m' in report(found)


def test_without_limits_or_motion_nothing_bounds_the_speed() -> None:
    limits = replace(TrajectoryLimits.of_model(ARM), effort=np.full(ARM.nv, math.inf))
    points = motion(np.random.default_rng(1))
    assert figures_of(checked(points, limits)).effort_bound.stretch == 0.0
    pose = np.array([0.0, 0.0, 0.0, -1.0, 0.0, 0.0, 0.0])
    held = checked([at(0.0, pose, 0 * pose), at(1.0, pose, 0 * pose)])
    assert figures_of(held).bound.stretch < 1e-6
    assert 'no limit bounds its speed' in report(held)
