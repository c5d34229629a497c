# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""A tare takes off what an unloaded sensor reads: at rest, from fresh readings, never a jump."""

import math

import numpy as np
import pytest

from rnea_ros.feedforward import Reason, State
from rnea_ros.feedforward.inputs.wrench.tare import STEADY_FORCE, STEADY_TORQUE, Tare
from rnea_ros.feedforward.settings import Measures, WrenchInputSettings
from support.control.control_rig import Rig, two_joint_arm
from support.control.wrench_rig import INLINE, Array, WrenchRig, arm

BIAS = (7.0, -3.0, 2.0)
DRIFT = (0.5, -0.2, 0.1)


def tare(rig: WrenchRig) -> None:
    rig.inputs.tare(rig.now)


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


@pytest.mark.parametrize(('change', 'deadband', 'rejection'), [
    ((0.0, 0.9 * STEADY_FORCE), {}, None),
    ((0.0, 1.1 * STEADY_FORCE), {}, Reason.TARE_UNSTEADY),
    ((0.0, 1.1 * STEADY_FORCE), {'deadband_force': 1.2 * STEADY_FORCE}, None),
    ((0.9 * STEADY_TORQUE, 0.0), {}, None),
    ((1.1 * STEADY_TORQUE, 0.0), {}, Reason.TARE_UNSTEADY),
    ((1.1 * STEADY_TORQUE, 0.0), {'deadband_torque': 1.2 * STEADY_TORQUE}, None),
    (None, {}, Reason.WRENCH_STALE),
])
def test_a_tare_needs_steady_readings(
    change: tuple[float, float] | None, deadband: dict[str, float], rejection: Reason | None
) -> None:
    rig = WrenchRig(arm(), deadband)
    tared(rig, (1.0, 0.0, 0.0))
    tare(rig)
    rig.run(0.05, BIAS)
    if change is None:
        rig.run(0.03, None)
    torque, force = change or (0.0, 0.0)
    rig.run(0.1, np.add(BIAS, (0.0, force, 0.0)), (0.0, torque, 0.0))
    assert rig.inputs.tare_rejections == ({} if rejection is None else {'wrist': rejection})
    assert not rig.inputs.taring
    ((taken, _),) = rig.inputs.sensors['wrist'].tare.kept.values()
    assert taken[3] == pytest.approx(1.0 if rejection else BIAS[0])


def test_a_guided_arm_is_tared_unless_its_tool_is_not_in_the_model() -> None:
    for missing, rejections in ((0.0, {}), (0.5, {'wrist': Reason.TARE_UNSTEADY})):
        rig = WrenchRig(arm(), {'placement': INLINE, 'tare_duration': 0.3})
        rig.qd[:] = (2.0, -1.0)
        for k in range(450):
            if k == 100:
                tare(rig)
            carried = arm().internal_wrench(rig.q, rig.qd, np.zeros(2), 'tool')
            rig.run(0.001, np.subtract(BIAS, (1.0 + missing) * np.asarray(carried.force)),
                    np.negative(carried.torque))
            rig.q += 0.001 * rig.qd
        assert rig.inputs.tare_rejections == rejections
        if not rejections:
            ((taken, _),) = rig.inputs.sensors['wrist'].tare.kept.values()
            np.testing.assert_allclose(taken, (0.0, 0.0, 0.0, *BIAS), atol=1e-9)


@pytest.mark.parametrize(('changed', 'kept'), [
    ({}, True), ({'cutoff': 50.0, 'gain': 0.5}, True), ({'link': 'tip'}, False),
    ({'placement': INLINE}, False), ({'measures': Measures.ROBOT_ON_ENVIRONMENT}, False),
    ({'topic': '/other'}, False), ({'name': 'other'}, False),
])
def test_another_control_goes_on_with_the_offset_of_the_same_sensor(
    changed: dict[str, object], kept: bool
) -> None:
    first, second = WrenchRig(arm(), {'fade': 10.0}), WrenchRig(arm(), changed)
    first.run(0.1, BIAS, DRIFT)
    tare(first)
    first.run(0.2, BIAS, DRIFT)  # the blend of the offset has only begun
    second.inputs.use_offsets(first.inputs.sensors['wrist'].tare.kept)
    wrenches = second.run(0.1, BIAS, DRIFT)
    assert bool(wrenches.round(9).any()) is not kept
    (sensor,) = second.inputs.sensors.values()
    assert sensor.tare.summary(first.now + 30.0) == (
        '7.87 N, 0.548 N m, 30 s ago' if kept else ''
    )


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


@pytest.mark.parametrize('state', [State.WAITING, State.READY, State.HOLDING, State.FAULT])
def test_a_tare_needs_joint_states_but_no_control(state: State) -> None:
    sensor = WrenchInputSettings('wrist', '/wrist', link='lower', placement=INLINE)
    rig = Rig(two_joint_arm(), wrench_inputs=(sensor,))
    wrenches = rig.controller.environment.wrenches
    rig.controller.permitted = state in (State.HOLDING, State.FAULT)

    def run(seconds: float) -> None:
        for _ in range(round(seconds / rig.period)):
            wrenches.sensors['wrist'].monitor.take_sample(
                '', np.zeros(3), np.zeros(3), stamp=0.0, clock=0.0, received=rig.now
            )
            rig.tick(feed=state is not State.WAITING)

    run(1.0)
    if rig.controller.permitted:
        rig.controller.request_fault(Reason.CLOCK_RESET)
        run(0.01 if state is State.HOLDING else 10.0)
    assert rig.state() is state
    rig.controller.tare()
    run(1.1)
    if state is State.WAITING:
        assert wrenches.tare_rejections == {'wrist': Reason.JOINT_STATES_STALE}
    else:
        assert not wrenches.tare_rejections
        # A reading of zero, and a link of 1 kg.
        ((taken, _),) = wrenches.sensors['wrist'].tare.kept.values()
        assert np.linalg.norm(taken[3:]) == pytest.approx(9.81)


def test_a_tare_ends_also_if_simulated_time_is_set_back() -> None:
    tare = Tare(WrenchInputSettings('wrist', '/wrist'))
    tare.begin(100.0)
    for k in range(101):
        tare.average(0.01 * k, np.zeros(6))
    assert not tare.averaging
    assert tare.rejection is None
