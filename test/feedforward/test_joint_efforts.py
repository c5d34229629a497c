# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""Damping without a motion, and soft limits: no energy, no step, and off where nothing is set."""

import math
from typing import Any

import numpy as np
import pytest

from rnea_ros.errors import InputError
from rnea_ros.feedforward.efforts import JointEfforts
from rnea_ros.feedforward.laws import LAWS, ControlLaw
from rnea_ros.feedforward.settings import SoftLimitSettings
from rnea_ros.feedforward.settings.soft_limits import SoftLimitZones, resolve_soft_limits
from support.cases import each
from support.control.control_rig import Array, Rig, mixed_arm, setpoint, swing, two_joint_arm
from support.models.robots import joint, link, load, robot

T = 0.002
RANGE = '<limit lower="-1" upper="2" effort="50" velocity="3"/>'


def zones(safety: str = '', period: float = T, **given: float) -> SoftLimitZones:
    """Return the zones of one joint with a range from -1 to 2."""
    turning = joint('j', 'continuous', 'base', 'arm', more=RANGE + safety)
    turning = turning.replace('continuous', 'revolute')
    model = load(robot(link('base'), link('arm', 1.0), turning))
    settings = SoftLimitSettings(**{name: (value,) for name, value in given.items()})
    return resolve_soft_limits(settings, ('j',), model, period)


def numbers(found: SoftLimitZones) -> list[float]:
    return [float(values[0]) for values in vars(found).values()]


def efforts_of(damping: float) -> JointEfforts:
    """Return the efforts of one joint without damping outside its zones of 0.5."""
    efforts = JointEfforts(np.zeros(1, dtype=np.intp))
    found = zones(margin=0.5, stiffness=80.0, damping=damping)
    efforts.configure(np.array([*vars(found).values(), [0.0]]))
    return efforts


def push(efforts: JointEfforts, q: float, qd: float) -> float:
    total = np.zeros(1)
    efforts.add(total, np.array([q]), np.array([qd]), T, damped=True)
    assert total == efforts.soft_limits
    return float(total[0])


@each('damping', [0.0, 6.0])
def test_no_closed_path_gains_energy_and_nothing_pulls_towards_a_limit(damping: float) -> None:
    rng, efforts = np.random.default_rng(0), efforts_of(damping)
    phase = np.linspace(0.0, 2.0 * math.pi, 2001)
    for _ in range(5):
        size, shift = rng.normal(scale=1.0 / np.arange(1, 13), size=12), rng.uniform(0, 7, 12)
        size = np.append(size, rng.normal(scale=0.01, size=2))  # a trembling hand, noise
        shift, orders = np.append(shift, (0.0, 1.0)), np.append(np.arange(1, 13), (60, 97))
        angles = orders[:, None] * phase + shift[:, None]
        q = 0.5 + size @ np.sin(angles)
        qd = (size * orders) @ np.cos(angles) * rng.uniform(0.2, 3.0)
        tau = np.array([push(efforts, *state) for state in zip(q, qd, strict=True)])
        assert (tau[q > 0.5] <= 0.0).all()
        assert (tau[q < 0.5] >= 0.0).all()
        assert not tau[(q > -0.5) & (q < 1.5)].any()
        work = float((0.5 * (tau[1:] + tau[:-1]) * np.diff(q)).sum())
        assert work <= 1e-3 * np.abs(tau).max()


def test_the_effort_is_progressive_and_stiffest_at_the_limit() -> None:
    efforts = efforts_of(6.0)
    for depth, rate in (
        (-1e-9, 1.0), (0.25, 0.0), (0.5, 0.0), (0.5, 0.4), (0.25, -1.0), (0.25, -9.0)
    ):
        expected = max(depth, 0.0) / 0.5 * max(80.0 * depth + 6.0 * rate, 0.0)
        assert push(efforts, 1.5 + depth, rate) == pytest.approx(-expected)
        assert push(efforts, -0.5 - depth, -rate) == pytest.approx(expected)


def of_urdf(k_position: float, lower: float, upper: float) -> str:
    return (
        f'<safety_controller k_position="{k_position}" k_velocity="4" '
        f'soft_lower_limit="{lower}" soft_upper_limit="{upper}"/>'
    )


def test_defaults_are_those_of_the_safety_controller_of_the_urdf() -> None:
    both, only_lower = of_urdf(20, -0.7, 1.5), of_urdf(20, -0.7, 2.0)
    assert numbers(zones(both)) == pytest.approx([-0.7, 0.3, 1.5, 0.5, 80.0, 4.0])
    assert numbers(zones(only_lower))[:3] == pytest.approx([-0.7, 0.3, math.inf])
    changed = zones(both, margin=0.1, stiffness=7.0)
    assert numbers(changed) == pytest.approx([-0.9, 0.1, 1.9, 0.1, 7.0, 4.0])
    assert not zones(both, margin=0.0).present.any()


def test_there_is_no_zone_without_soft_limits_inside_the_limits() -> None:
    for safety in ('', '<safety_controller k_velocity="10"/>', of_urdf(9, -1.0, 2.0)):
        assert not zones(safety).present.any()
    names, four = mixed_arm().joint_names, SoftLimitSettings(4 * (0.1,), 4 * (50.0,), 4 * (1.0,))
    found = resolve_soft_limits(four, names, mixed_arm(), T)
    assert found.present.tolist() == [name != 'turn' for name in names]


def test_a_sampled_spring_has_a_least_damping() -> None:
    assert zones(margin=0.5, stiffness=100.0, damping=0.0, period=0.01).damping == 4.0
    assert zones(margin=0.5, stiffness=100.0).damping == pytest.approx(5.0)


@each('given, said', [
    ({'margin': 0.2}, "soft_limits.stiffness: joint 'j': set it, as the URDF has no"),
    ({'margin': 1.6, 'stiffness': 1.0}, "soft_limits.margin: joint 'j': zones of 1.6 and 1.6 are"),
])
def test_zones_too_wide_or_without_stiffness_are_named(given: dict[str, Any], said: str) -> None:
    zones(margin=1.5, stiffness=1.0)
    with pytest.raises(InputError, match=said):
        zones(**given)


# In the control

INSIDE = SoftLimitSettings((0.6,), (100.0,), (3.0,))
STANDING = (2.9, -0.9)
"""The shoulder is 0.5 rad inside the zone before its limit of 3 rad, the elbow is outside."""


def arm(**settings: Any) -> Rig:
    """Return an arm that stands still whatever its velocity is."""
    defaults: dict[str, Any] = {
        'ramp_duration': 0.1, 'joint_states_timeout': 10.0, 'effort_rate_limit': (1e8,),
    }
    built = Rig(two_joint_arm(), q=STANDING, **(defaults | settings))
    built.activate()
    return built


@each('mode', LAWS.values())
def test_damping_acts_without_a_motion_and_soft_limits_always(mode: type[ControlLaw]) -> None:
    gains: dict[str, Any] = {'mode': mode, 'kp': (10.0,), 'kd': (1.0,)}
    rig, plain = arm(damping=(2.0, 3.0), soft_limits=INSIDE, **gains), arm(**gains)
    rng = np.random.default_rng(1)
    for moving in (False, True):
        for tick in range(120):
            rig.qd[:] = plain.qd[:] = 0.3 * rng.normal(size=2)
            for either in (rig, plain):
                if moving:
                    either.controller.follow(setpoint(('shoulder', 'elbow'), STANDING, 0.1), None)
                either.tick()
            terms, without = rig.controller.terms(), plain.controller.terms()
            np.testing.assert_allclose(terms.total(), rig.commands[-1], rtol=0.0, atol=1e-12)
            if tick > 110:  # faded
                damped = not moving or not mode.follows_motions
                np.testing.assert_allclose(
                    terms.feedback - without.feedback, -damped * rig.qd * (2.0, 3.0), atol=1e-12
                )
            depth = STANDING[0] - (3.0 - 0.6)
            expected = -depth / 0.6 * max(100.0 * depth + 3.0 * rig.qd[0], 0.0)
            np.testing.assert_allclose(terms.soft_limits, (expected, 0.0), atol=1e-9)


def assert_no_step(rig: Rig, before: Array, commands: Array) -> float:
    """Assert that commands change evenly within 0.1 s, by at least something; return by what."""
    change = float(np.abs(commands[-1] - before).max())
    assert change > 0.1
    steps = np.abs(np.diff([before, *commands], axis=0))
    assert steps.max() <= 1.01 * change * rig.period / 0.1
    return change


def test_no_step_when_soft_limits_or_damping_are_switched_inside_the_zone() -> None:
    rig = arm()
    rig.qd[:] = 0.2
    for change in (
        {'soft_limits': INSIDE}, {'damping': (5.0,)}, {'damping': (0.0,)},
        {'soft_limits': SoftLimitSettings((0.6,), (10.0,), (0.0,))},
        {'soft_limits': SoftLimitSettings()},
    ):
        before = rig.run(0.01)[-1]
        rig.change(**change)
        assert_no_step(rig, before, rig.run(0.2))


def test_damping_fades_out_when_a_motion_begins_and_never_acts_in_it() -> None:
    rig = arm(mode=LAWS['feedforward'], damping=(5.0,))
    rig.q[:], rig.qd[:] = (0.4, -0.9), 0.3
    before = rig.run(0.2)[-1]
    rig.controller.follow(swing(('shoulder', 'elbow'), rig.q, rig.q + 1e-9, 0.5), None)
    assert assert_no_step(rig, before, rig.run(0.15)) == pytest.approx(5.0 * 0.3, abs=1e-2)
    for damping in (0.0, 6.0):
        rig.change(damping=(damping,))
        for _ in range(20):
            rig.tick()
            assert not rig.controller.terms().feedback.any()
