# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""A tare takes off what an unloaded sensor reads: at rest, from fresh readings, never a jump."""

import math

import numpy as np
import pytest

from rnea_ros.feedforward import Reason
from rnea_ros.feedforward.inputs.wrench.tare import MAX_MOTION, Tare
from rnea_ros.feedforward.settings import WrenchInputSettings
from support.control.wrench_rig import INLINE, Array, WrenchRig, arm

BIAS = (7.0, -3.0, 2.0)
DRIFT = (0.5, -0.2, 0.1)


def tare(rig: WrenchRig) -> None:
    rig.inputs.tare(rig.now, rig.q)


def tared(rig: WrenchRig, force: tuple[float, ...] = BIAS) -> Array:
    """Return the wrench after a tare at a reading that stays."""
    rig.run(0.1, force, DRIFT)
    tare(rig)
    wrench: Array = rig.run(0.5, force, DRIFT)[-1]
    assert not rig.inputs.taring
    return wrench


def test_a_tare_averages_the_noise_away() -> None:
    rng = np.random.default_rng(2)
    rig = WrenchRig(arm(), {'tare_duration': 1.0})
    rig.run(0.1, BIAS)
    tare(rig)
    for _ in range(1100):
        rig.wait()
        assert rig.feed((rng.normal(size=3) + BIAS).tolist()) is None
        rig.step(0.0)
    wrench = rig.run(0.3, BIAS)[-1]
    assert not rig.inputs.tare_rejections
    # Standard deviation of the mean of 1,000 readings: 0.03.
    np.testing.assert_allclose(wrench[3:], 0.0, atol=0.12)


def test_the_offset_of_an_inline_sensor_excludes_the_tool() -> None:
    # Readings of a tool that the model knows, with an offset of the sensor, in two poses.
    rig = WrenchRig(arm(), {'placement': INLINE})
    still = np.zeros(2)
    for q in (np.array([0.0, 0.0]), np.array([0.4, 0.9])):
        rig.q[:] = q
        carried = arm().internal_wrench(q, still, still, 'tool')
        force = np.subtract(BIAS, carried.force)
        torque = np.subtract(DRIFT, carried.torque)
        rig.run(0.2, force, torque)
        if not q.any():
            tare(rig)
        wrench = rig.run(0.5, force, torque)[-1]
        np.testing.assert_allclose(wrench, 0.0, atol=1e-9)


def test_an_unmodelled_tool_reappears_when_it_is_turned() -> None:
    # What the documents warn of: a tare at one pose is right at that pose only.
    rig = WrenchRig(arm(), {'placement': INLINE, 'link': 'tip'})
    rig.run(0.2, (0.0, 0.0, -5.0))
    tare(rig)
    np.testing.assert_allclose(rig.run(0.5, (0.0, 0.0, -5.0))[-1], 0.0, atol=1e-9)
    rig.q[:] = (0.0, math.pi)
    np.testing.assert_allclose(rig.run(0.5, (0.0, 0.0, 5.0))[-1][3:], (0, 0, 10), atol=1e-9)


def test_a_new_offset_is_blended_in() -> None:
    rig = WrenchRig(arm(), {'fade': 0.1, 'cutoff': 500.0})
    rig.run(0.3, BIAS)
    tare(rig)
    averaged = rig.run(0.099, BIAS)
    np.testing.assert_allclose(averaged[:, 3:], [BIAS] * 99, rtol=1e-9)
    blended = rig.run(0.2, BIAS)[:, 3]
    # A straight line from the old to the new, 1 ms behind through the filter.
    line = 7.0 * np.clip(1.0 - (np.arange(200) - 1.0) / 100.0, 0.0, 1.0)
    np.testing.assert_allclose(blended, line, atol=0.2)


def test_two_tares_in_a_row_blend_without_a_jump() -> None:
    rig = WrenchRig(arm(), {'fade': 0.5, 'cutoff': 500.0})
    rig.run(0.8, BIAS)
    tare(rig)
    wrenches = [rig.run(0.25, BIAS)]
    tare(rig)
    wrenches += [rig.run(1.0, np.multiply(2.0, BIAS)), rig.run(1.0, np.multiply(2.0, BIAS))]
    np.testing.assert_allclose(wrenches[-1][-1], 0.0, atol=1e-9)
    steps = np.abs(np.diff(np.concatenate(wrenches)[:, 3]))
    steps[249:270] = 0.0  # the reading's own step
    # 14 N in 0.5 s; the second tare blends from an offset on its way.
    assert steps.max() < 1.5 * 14.0 / 500.0


@pytest.mark.parametrize(('joint', 'way', 'reason'), [
    *((joint, way, Reason.TARE_ROBOT_MOVED) for joint in (0, 1) for way in (-1.1, 1.1)),
    (0, 0.0, Reason.WRENCH_STALE),
])
def test_a_tare_needs_a_resting_robot_and_readings(joint: int, way: float, reason: Reason) -> None:
    rig = WrenchRig(arm())
    tared(rig, (1.0, 0.0, 0.0))
    tare(rig)
    rig.run(0.05, BIAS)
    rig.q[joint] += way * MAX_MOTION
    if reason is Reason.WRENCH_STALE:
        rig.run(0.03, None)
    wrench = rig.run(0.5, BIAS, DRIFT)[-1]
    assert rig.inputs.tare_rejections == {'wrist': reason}
    assert not rig.inputs.taring
    np.testing.assert_allclose(wrench[3:], np.subtract(BIAS, (1.0, 0.0, 0.0)), atol=1e-9)


def test_a_robot_that_hardly_moves_may_be_tared() -> None:
    rig = WrenchRig(arm())
    rig.run(0.1, BIAS)
    tare(rig)
    rig.q += 0.9 * MAX_MOTION
    rig.run(0.5, BIAS)
    assert not rig.inputs.tare_rejections


def test_an_offset_over_a_cap_is_rejected() -> None:
    # The model has a tool of 20 N that the reading does not show: no offset of such a sensor.
    rig = WrenchRig(arm(), {'placement': INLINE, 'max_force': 15.0})
    before = rig.run(0.2, (0.0, 0.0, 0.0))[-1]
    tare(rig)
    after = rig.run(0.5, (0.0, 0.0, 0.0))[-1]
    assert rig.inputs.tare_rejections == {'wrist': Reason.OVER_CAP}
    np.testing.assert_allclose(after, before, rtol=1e-9)


def test_one_sensors_rejection_leaves_the_others_tare_alone() -> None:
    rig = WrenchRig(arm(), {}, {'name': 'other', 'topic': '/other', 'link': 'lower'})
    rig.run(0.1, BIAS, DRIFT)
    tare(rig)
    wrench = rig.run(0.5, BIAS, DRIFT)[-1]
    assert rig.inputs.tare_rejections == {'other': Reason.WRENCH_STALE}
    np.testing.assert_allclose(wrench, 0.0, atol=1e-9)


def test_a_successful_tare_clears_an_earlier_rejection() -> None:
    rig = WrenchRig(arm())
    tare(rig)
    rig.step()
    assert rig.inputs.tare_rejections
    tared(rig)
    assert not rig.inputs.tare_rejections


def test_an_offset_belongs_to_the_frame_that_it_was_found_in() -> None:
    rig = WrenchRig(arm(), {'link': ''})
    rig.run(0.1, BIAS, frame='tool')
    tare(rig)
    assert not rig.run(0.5, BIAS, frame='tool')[-1].round(9).any()
    rig.run(0.2, None)
    np.testing.assert_allclose(rig.run(0.3, BIAS, frame='tool')[-1], 0.0, atol=1e-9)
    rig.run(0.2, None)
    np.testing.assert_allclose(rig.run(0.3, BIAS, frame='tip')[-1][3:], BIAS, rtol=1e-9)


def test_an_offset_during_its_blend_keeps_its_frame() -> None:
    rig = WrenchRig(arm(), {'link': ''})
    rig.run(0.1, BIAS, frame='tool')
    tare(rig)
    rig.run(0.11, BIAS, frame='tool')
    assert not rig.inputs.taring
    rig.run(0.2, None)
    np.testing.assert_allclose(rig.run(0.3, BIAS, frame='tip')[-1][3:], BIAS, rtol=1e-9)


def test_a_position_that_is_not_finite_is_a_motion() -> None:
    tare = Tare(WrenchInputSettings('wrist', '/wrist'))
    tare.begin(0.0, np.zeros(2))
    tare.average(0.01, np.array([0.0, math.nan]), np.zeros(6))
    assert tare.rejection is Reason.TARE_ROBOT_MOVED
