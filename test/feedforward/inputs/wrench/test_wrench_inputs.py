# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""From readings to external forces: signs, frames, filter, deadband, gain and fading."""

from collections.abc import Sequence
import math

import numpy as np
from numpy.typing import ArrayLike
import pytest

from rnea_ros import BaseMotion, RobotModel, Wrench
from rnea_ros.feedforward import Reason
from rnea_ros.feedforward.inputs.wrench.wrench_filter import subtract
from rnea_ros.feedforward.settings import Measures
from support.control.wrench_rig import INLINE, WEIGHT, WrenchRig, arm
from support.models.oracles import Array, random_state, random_tree
from support.models.robots import load

PUSH = (3.0, -4.0, 12.0)
TURN = (0.1, 0.2, 0.3)

SETTLED = 0.2
"""In so many seconds filter and fade of the rig's sensors are through, to 1e-9."""


def settled(rig: WrenchRig, force: ArrayLike = PUSH, torque: ArrayLike = TURN) -> Array:
    """Return what comes of a reading that stays."""
    wrench: Array = rig.run(SETTLED, force, torque)[-1]
    return wrench


# Sign, frame and point


def test_a_hand_that_lifts_the_tool_takes_load_off_the_joints() -> None:
    rig = WrenchRig(arm())
    settled(rig, (0.0, 0.0, 10.0), (0.0, 0.0, 0.0))
    # The arm lies along x: 10 N up at 1 m and at 0.5 m, about axes that point along y.
    np.testing.assert_allclose(rig.efforts(), [10.0, 5.0], rtol=1e-9)
    gravity = arm().gravity_torques(np.zeros(2))
    assert (gravity < 0.0).all(), 'the axes point so that what holds the arm is negative'


def test_a_reading_of_what_the_robot_exerts_counts_with_the_other_sign() -> None:
    passive = WrenchRig(arm(), {'measures': Measures.ENVIRONMENT_ON_ROBOT})
    active = WrenchRig(arm(), {'measures': Measures.ROBOT_ON_ENVIRONMENT})
    np.testing.assert_array_equal(settled(passive), -settled(active))


def test_the_tool_of_an_inline_sensor_is_not_a_push() -> None:
    rig = WrenchRig(arm(), {'placement': INLINE})
    # Level, the tool's weight pulls the sensor down, its centre of mass straight above it.
    still = settled(rig, (0.0, 0.0, -WEIGHT), (0.0, 0.0, 0.0))
    np.testing.assert_allclose(still, 0.0, atol=1e-12)
    lifted = settled(rig, (0.0, 0.0, 5.0 - WEIGHT), (0.0, 0.0, 0.0))
    np.testing.assert_allclose(lifted, [0.0, 0.0, 0.0, 0.0, 0.0, 5.0], atol=1e-6)


def test_a_readings_frame_is_its_link_where_none_is_set() -> None:
    q = np.array([0.3, -0.5])
    for frame in ('tip', 'lower'):
        by_frame, by_link = WrenchRig(arm(), {'link': ''}), WrenchRig(arm(), {'link': frame})
        by_frame.q[:] = by_link.q[:] = q
        by_frame.run(SETTLED, PUSH, TURN, frame=frame)
        settled(by_link)
        np.testing.assert_array_equal(by_frame.efforts(), by_link.efforts())
        expected = efforts_of(arm(), q, {frame: Wrench(PUSH, TURN)})
        np.testing.assert_allclose(by_frame.efforts(), expected, rtol=1e-6)


def test_an_inline_sensor_finds_its_cut_by_the_frame_of_its_readings() -> None:
    rig = WrenchRig(arm(), {'link': '', 'placement': INLINE})
    last = rig.run(SETTLED, (0.0, 0.0, -WEIGHT), frame='tool')[-1]
    np.testing.assert_allclose(last, 0.0, atol=1e-12)
    rig.run(0.2, None)
    last = rig.run(SETTLED, (0.0, 0.0, 0.0), frame='tip')[-1]
    np.testing.assert_allclose(last, 0.0, atol=1e-12)


def efforts_of(model: RobotModel, q: Array, wrenches: dict[str, Wrench]) -> Array:
    still = np.zeros(model.nv)
    pushed = model.inverse_dynamics(q, still, still, wrenches)
    return pushed - model.inverse_dynamics(q, still, still)


@pytest.mark.parametrize('seed', range(12))
def test_sensed_wrenches_change_the_efforts_by_minus_jacobian_transposed(seed: int) -> None:
    rng = np.random.default_rng(seed)
    model = load(random_tree(seed))
    moving = [
        name for name in model.link_names
        if model.tree.frames[name].body and model.jacobian(np.zeros(model.nv), name).any()
    ]
    links = rng.choice(moving, size=min(3, len(moving)), replace=False).tolist()
    rig = WrenchRig(model, *(
        {'name': link, 'topic': link, 'link': link, 'cutoff': 1000.0} for link in links
    ))
    q, qd, qdd = random_state(seed, model.nv)
    rig.q[:], rig.qd[:] = q, qd
    wrenches = {link: (rng.normal(size=3) * 20.0, rng.normal(size=3)) for link in links}
    for _ in range(200):
        rig.wait()
        for link, (force, torque) in wrenches.items():
            assert rig.feed(force.tolist(), torque.tolist(), name=link) is None
        rig.step(0.0)
    expected = model.inverse_dynamics(q, qd, qdd)
    for link, (force, torque) in wrenches.items():
        expected -= model.jacobian(q, link).T @ np.concatenate([torque, force])
    np.testing.assert_allclose(
        model.inverse_dynamics(q, qd, qdd) + rig.efforts(), expected, rtol=1e-9, atol=1e-8
    )


def test_a_robot_without_sensors_has_no_external_efforts() -> None:
    rig = WrenchRig(arm())
    assert not rig.efforts().any()
    rig.inputs.advance(0.0, rig.q, rig.qd)
    assert not rig.efforts().any()


# Filter


def alone(cutoff: float = 100.0, **settings: float) -> WrenchRig:
    """Return a contact sensor that has faded in on a reading of zero."""
    rig = WrenchRig(arm(), {'cutoff': cutoff, 'timeout': 10.0, 'tare_duration': 20.0} | settings)
    rig.run(0.2)
    return rig


@pytest.mark.parametrize('periods', [0.01, 1.0, 50.0])
def test_a_step_passes_as_through_two_equal_stages(periods: float) -> None:
    rig = alone(cutoff=2.0)
    stage = math.sqrt(math.sqrt(2.0) - 1.0) / (2.0 * math.pi * 2.0)
    began = rig.now
    assert rig.feed((10.0, 0.0, 0.0), stamp=0.0) is None
    for _ in range(100):
        force = rig.step(periods)[3]
        s = (rig.now - began) / stage
        expected = 10.0 * (1.0 - math.exp(-s) * (1.0 + s))
        assert abs(force - expected) < 1e-9


def test_a_tick_longer_than_the_filter_takes_the_reading_as_it_is() -> None:
    rig = alone(cutoff=100.0)
    assert rig.feed(PUSH, TURN, stamp=0.0) is None
    wrench = rig.step(periods=1000.0)
    np.testing.assert_allclose(wrench, [*TURN, *PUSH], rtol=1e-9)


def test_a_tick_of_no_length_changes_nothing() -> None:
    rig = alone()
    assert rig.feed(PUSH, stamp=0.0) is None
    before = rig.step()
    assert rig.feed((50.0, 0.0, 0.0)) is None
    np.testing.assert_allclose(rig.step(0.0), before, rtol=1e-12)
    np.testing.assert_allclose(rig.step(-0.5), before, rtol=1e-12)
    assert rig.step(1.0)[3] > 1.1 * before[3]


def test_a_tick_of_no_length_has_no_acceleration_of_its_own() -> None:
    rig = WrenchRig(arm(), {'placement': INLINE})
    before = settled(rig, (0.0, 0.0, 5.0 - WEIGHT), (0.0, 0.0, 0.0))
    rig.qd[:] = 0.1
    np.testing.assert_allclose(rig.step(0.0), before, rtol=1e-9)
    assert not rig.inputs.stale


def test_irregular_ticks_and_readings_lead_to_the_same_place() -> None:
    rng = np.random.default_rng(3)
    ends = []
    for irregular in (False, True):
        rig = alone(cutoff=20.0)
        end = rig.now + 0.02
        while rig.now < end - 1e-9:
            assert rig.feed(PUSH, stamp=0.0) is None
            left = (end - rig.now) / rig.period
            wrench = rig.step(min(rng.exponential(0.1), left) if irregular else 0.1)
        ends.append(wrench)
    np.testing.assert_allclose(ends[0], ends[1], rtol=1e-9)


# Deadband and gain


@pytest.mark.parametrize(('force', 'expected'), [
    ((0.0, 0.0, 0.0), (0.0, 0.0, 0.0)), ((1.0, 1.0, 1.0), (0.0, 0.0, 0.0)),
    ((3.0, 0.0, -4.0), (1.8, 0.0, -2.4)),
])
def test_a_force_loses_its_deadband(force: Sequence[float], expected: Sequence[float]) -> None:
    rig = WrenchRig(arm(), {'deadband_force': 2.0})
    wrench = settled(rig, force)
    np.testing.assert_allclose(wrench[3:], expected, atol=1e-9)
    np.testing.assert_allclose(wrench[:3], TURN, rtol=1e-9)


def test_a_torque_loses_its_deadband_by_length() -> None:
    rig = WrenchRig(arm(), {'deadband_torque': 2.0})
    np.testing.assert_allclose(settled(rig, PUSH, (0.0, 4.0, -3.0)), [0, 2.4, -1.8, *PUSH])
    np.testing.assert_allclose(settled(rig, PUSH, (0.0, 1.2, -1.2)), [0, 0, 0, *PUSH])


def test_the_gain_scales_what_is_left_of_the_deadband() -> None:
    rig = WrenchRig(arm(), {'gain': 0.25, 'deadband_force': 13.0 - 8.0})
    np.testing.assert_allclose(np.linalg.norm(settled(rig)[3:]), 0.25 * 8.0)
    np.testing.assert_allclose(settled(rig)[:3], 0.25 * np.array(TURN))
    assert not settled(WrenchRig(arm(), {'gain': 0.0})).any()


# Accelerations


def test_the_first_tick_of_a_moving_robot_has_no_acceleration() -> None:
    rig = WrenchRig(arm(), {'placement': INLINE, 'cutoff': 1000.0, 'fade': 0.01})
    rig.qd[:] = (1.0, 0.0)
    carried = arm().internal_wrench(rig.q, rig.qd, np.zeros(2), 'tool')
    reading = -np.asarray(carried.force, float), -np.asarray(carried.torque, float)
    np.testing.assert_allclose(rig.run(0.1, *reading), 0.0, atol=1e-9)


def test_velocities_of_every_third_tick_give_the_right_accelerations() -> None:
    rig = WrenchRig(arm(), {'placement': INLINE, 'cutoff': 10.0})
    qdd = np.array([0.0, 3.0])
    errors = []
    for tick in range(900):
        rig.wait()
        if tick % 3 == 0:
            rig.qd[:] = 0.001 * tick * qdd
        qd = 0.001 * tick * qdd
        carried = arm().internal_wrench(rig.q, qd, qdd, 'tool')
        rig.feed((-np.asarray(carried.force, float)).tolist(),
                 (-np.asarray(carried.torque, float)).tolist())
        errors.append(rig.step(0.0)[3:])
    # 3 rad/s^2 take 3 N; 1 % of it, where velocities are 2 ms late, and 5 Hz of ripple.
    assert np.linalg.norm(errors[200:], axis=1).max() < 0.06


# Fading


def test_a_term_fades_in_from_zero() -> None:
    rig = WrenchRig(arm(), {'fade': 0.1})
    force = rig.run(0.15, PUSH)[:, 3:]
    shares = np.minimum(np.arange(150) / 100.0, 1.0)
    np.testing.assert_allclose(force, np.outer(shares, PUSH), atol=1e-9)


def test_a_wrench_older_than_its_timeout_fades() -> None:
    rig = WrenchRig(arm(), {'fade': 0.1, 'timeout': 0.0205})
    settled(rig)
    np.testing.assert_allclose(rig.run(0.020, None)[:, 3:], [PUSH] * 20, rtol=1e-9)
    assert not rig.inputs.stale
    assert not rig.inputs.flags
    force = rig.run(0.150, None)[:, 3:]
    shares = np.maximum(1.0 - np.arange(1, 151) / 100.0, 0.0)
    np.testing.assert_allclose(force, np.outer(shares, PUSH), atol=1e-9)
    assert rig.inputs.stale == ('wrist',)
    assert rig.inputs.flags == {Reason.WRENCH_STALE}
    assert not rig.efforts().any()


def test_one_stale_sensor_leaves_the_others_alone() -> None:
    rig = WrenchRig(arm(), {}, {'name': 'other', 'topic': '/other', 'link': 'lower'})
    for _ in range(200):
        rig.wait()
        rig.feed(PUSH, TURN)
        rig.step(0.0)
    assert rig.inputs.stale == ('other',)
    np.testing.assert_allclose(rig.inputs.sensors['wrist'].wrench, [*TURN, *PUSH], rtol=1e-6)
    assert not rig.inputs.sensors['other'].wrench.any()


def test_a_sensor_without_readings_is_stale() -> None:
    rig = WrenchRig(arm())
    assert rig.inputs.flags == {Reason.WRENCH_STALE}
    assert not rig.step().any()
    assert rig.inputs.stale == ('wrist',)


def test_readings_that_come_back_fade_in_from_where_the_term_was() -> None:
    rig = WrenchRig(arm(), {'fade': 0.1, 'timeout': 0.0205})
    settled(rig)
    left = rig.run(0.070, None)[-1]
    back = rig.run(0.1, PUSH, TURN)
    np.testing.assert_allclose(left[3:], np.multiply(0.5, PUSH), rtol=1e-6)
    np.testing.assert_allclose(back[9][3:], np.multiply(0.6, PUSH), rtol=1e-6)
    assert not rig.inputs.stale


def test_readings_before_a_long_gap_are_dropped() -> None:
    rig = WrenchRig(arm(), {'cutoff': 0.5})
    rig.run(3.0, (100.0, 0.0, 0.0))
    rig.run(0.2, None)
    np.testing.assert_allclose(rig.run(0.1, (0.0, 1.0, 0.0))[:, 3], 0.0, atol=1e-12)


def test_a_reading_that_changed_during_a_short_gap_is_filtered() -> None:
    rig = WrenchRig(arm(), {'cutoff': 1.0, 'fade': 1.0})
    before = rig.run(3.0, (50.0, 0.0, 0.0))[-1]
    rig.run(0.05, None)
    after = rig.run(0.01, (-50.0, 0.0, 0.0))
    assert (after[:, 3] > 0.75 * before[3]).all()


def test_a_non_finite_motion_makes_only_the_inline_sensor_stale() -> None:
    rig = WrenchRig(
        arm(), {'placement': INLINE}, {'name': 'other', 'topic': '/other', 'link': 'lower'}
    )
    for bad in (False, True):
        for _ in range(100):
            rig.wait()
            rig.qd[:] = math.nan if bad else 0.0
            rig.feed((0.0, 0.0, -WEIGHT))
            rig.feed(PUSH, name='other')
            assert np.isfinite(rig.step(0.0)).all()
    assert rig.inputs.stale == ('wrist',)
    np.testing.assert_allclose(rig.inputs.sensors['other'].wrench[3:], PUSH, rtol=1e-6)
    rig.qd[:] = 0.0
    np.testing.assert_allclose(settled(rig, (0, 0, 5.0 - WEIGHT))[5], 5.0, rtol=1e-6)


@pytest.mark.parametrize(('caps', 'left'), [
    ((100.0, 100.0), (3, 4, 0, 0, -6, 8)), ((1.0, 100.0), (0.6, 0.8, 0, 0, -6, 8)),
    ((100.0, 5.0), (3, 4, 0, 0, -3, 4)),
])
def test_a_cap_shortens_what_is_too_long(caps: tuple[float, float], left: Sequence[float]) -> None:
    wrench = np.array([3.0, 4.0, 0.0, 0.0, -6.0, 8.0])
    subtract(wrench, np.zeros(6), *caps)
    np.testing.assert_allclose(wrench, left, rtol=1e-12)


def test_an_impossible_motion_is_not_accepted() -> None:
    rig = WrenchRig(arm(), {'placement': INLINE})
    settled(rig, (0.0, 0.0, -WEIGHT), (0.0, 0.0, 0.0))
    rig.qd[:] = 1e12
    assert not rig.run(0.001, (0.0, 0.0, -WEIGHT)).round(9).any()
    assert rig.inputs.stale == ('wrist',)


def test_a_glitch_of_a_velocity_is_over_with_the_filter() -> None:
    rig = WrenchRig(arm(), {'placement': INLINE, 'cutoff': 20.0})
    settled(rig, (0.0, 0.0, -WEIGHT), (0.0, 0.0, 0.0))
    rig.qd[:] = 50.0
    rig.run(0.001, (0.0, 0.0, -WEIGHT))
    rig.qd[:] = 0.0
    wrenches = rig.run(0.1, (0.0, 0.0, -WEIGHT))
    assert np.linalg.norm(wrenches[:, 3:], axis=1).max() < 20.0
    np.testing.assert_allclose(wrenches[-1], 0.0, atol=1e-3)


# A changed robot


def test_the_load_of_a_tool_on_an_accelerating_lift_is_not_a_push() -> None:
    rising = arm().with_base_motion(BaseMotion(linear_acceleration=(0.0, 0.0, 2.0)))
    rig = WrenchRig(rising, {'placement': INLINE})
    reading = (0.0, 0.0, -2.0 * (9.81 + 2.0))
    np.testing.assert_allclose(settled(rig, reading, (0.0, 0.0, 0.0)), 0.0, atol=1e-9)


def test_a_robot_that_changes_keeps_its_sensors_going() -> None:
    rig = WrenchRig(arm(), {'placement': INLINE})
    before = settled(rig, (0.0, 0.0, 5.0 - WEIGHT), (0.0, 0.0, 0.0))
    rig.inputs.set_base(np.array([0.0, 0.0, -1.62]), np.zeros(6), np.zeros(6))
    after = rig.run(SETTLED, (0.0, 0.0, 5.0 - WEIGHT))
    torque, force = rig.greatest_change(rig.period)
    assert np.linalg.norm(after[0][3:] - before[3:]) <= force
    assert np.linalg.norm(after[0][:3] - before[:3]) <= torque
    np.testing.assert_allclose(after[-1][5], 5.0 - WEIGHT + 2.0 * 1.62, rtol=1e-6)
