# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""Readings of a sensor are taken whole or rejected by name; a tare takes off its offset."""

from collections import Counter
import math
from typing import Any

import numpy as np
import pytest

from rnea_ros.errors import InputError
from rnea_ros.feedforward import Reason, State
from rnea_ros.feedforward.settings import Measures, WrenchInputSettings
from rnea_ros.feedforward.settings.resolved import check_wrench_inputs
from rnea_ros.feedforward.tare import Tare
from rnea_ros.feedforward.wrench import WrenchInputs
from support.cases import each
from support.control.control_rig import Rig, two_joint_arm
from support.control.wrench_rig import CONTACT, INLINE, PLAIN, Array, WrenchRig, arm

BIAS = (7.0, -3.0, 2.0)
DRIFT = (0.5, -0.2, 0.1)


def tare(rig: WrenchRig) -> None:
    rig.inputs.tare(rig.now)


def taken(rig: WrenchRig) -> Array:
    """Return the offset of the last tare, [torque; force]."""
    ((offset, _),) = rig.inputs.sensors['wrist'].tare.kept.values()
    return offset


def biased(rig: WrenchRig, missing: float = 0.0) -> tuple[Array, Array]:
    """Return an in-line sensor's reading with its offset; a share of the tool is not modelled."""
    carried = arm().internal_wrench(rig.q, rig.qd, np.zeros(2), 'tool')
    force, torque = np.asarray(carried.force), np.asarray(carried.torque)
    return np.subtract(BIAS, (1.0 + missing) * force), np.subtract(DRIFT, torque)


def test_a_tare_takes_the_mean_of_the_readings() -> None:
    rig = WrenchRig(arm(), {'tare_duration': 1.0})
    rig.run(0.1, BIAS)
    tare(rig)
    readings = np.array(BIAS) + np.random.default_rng(2).normal(size=(1000, 3))
    for force in readings:
        rig.run(rig.period, force)
    rig.run(0.1, BIAS)
    np.testing.assert_allclose(taken(rig)[3:], readings.mean(axis=0), atol=0.01)


def test_the_offset_of_an_inline_sensor_excludes_the_tool_in_every_pose() -> None:
    for missing in (0.0, 0.04):
        rig = WrenchRig(arm(), {'placement': INLINE})
        for q in (np.array([0.0, 0.0]), np.array([0.4, 0.9])):
            rig.q[:] = q
            rig.run(0.2, *biased(rig, missing))
            if not q.any():
                tare(rig)
            wrench = rig.run(0.4, *biased(rig, missing))[-1]
            # A tare of a tool that is not in the model is right at its pose only.
            expected = missing * 2.0 * 9.81 * 2.0 * np.sin(0.65) if q.any() else 0.0
            assert np.linalg.norm(wrench[3:]) == pytest.approx(expected, abs=1e-9)


def test_a_new_offset_is_blended_in_also_from_one_on_its_way() -> None:
    rig = WrenchRig(arm(), {'fade': 0.2, 'cutoff': 500.0})
    rig.run(0.3, BIAS)
    for factor in (1.0, 2.0):  # by the second tare the first blend is at its end
        reading = np.multiply(factor, BIAS)
        tare(rig)
        rig.run(0.1, reading)
        # A straight line from the old to the new, 1 ms behind through the filter.
        line = 7.0 * np.clip(1.0 - (np.arange(99)) / 200.0, 0.0, 1.0)
        np.testing.assert_allclose(rig.run(0.099, reading)[:, 3], line, atol=0.1)
    np.testing.assert_allclose(rig.run(0.2, reading)[-1], 0.0, atol=1e-9)


@each('change, deadband, rejection', [
    ((0.0, 0.9), {}, None), ((0.0, 1.1), {}, Reason.TARE_UNSTEADY),
    ((0.0, 1.1), {'deadband_force': 1.2}, None),
    ((0.09, 0.0), {}, None), ((0.11, 0.0), {}, Reason.TARE_UNSTEADY),
    ((0.11, 0.0), {'deadband_torque': 0.12}, None), (None, {}, Reason.WRENCH_STALE),
])
def test_a_tare_needs_steady_readings_and_its_rejection_changes_nothing(
    change: tuple[float, float] | None, deadband: dict[str, float], rejection: Reason | None
) -> None:
    rig = WrenchRig(arm(), deadband)
    tare(rig)
    rig.step()
    assert rig.inputs.tare_rejections == {'wrist': Reason.WRENCH_STALE}
    rig.run(0.1, (1.0, 0.0, 0.0))
    tare(rig)
    rig.run(0.2, (1.0, 0.0, 0.0))
    assert not rig.inputs.tare_rejections  # the success clears the earlier rejection
    tare(rig)
    rig.run(0.05, BIAS)
    if change is None:
        rig.run(0.03, None)
    torque, force = change or (0.0, 0.0)
    rig.run(0.1, np.add(BIAS, (0.0, force, 0.0)), (0.0, torque, 0.0))
    assert rig.inputs.tare_rejections == ({} if rejection is None else {'wrist': rejection})
    assert not rig.inputs.taring
    assert taken(rig)[3] == pytest.approx(1.0 if rejection else BIAS[0])


@each('changed, kept', [
    ({'cutoff': 50.0, 'gain': 0.5}, True), ({'link': 'tip'}, False),
    ({'placement': INLINE}, False), ({'measures': Measures.ROBOT_ON_ENVIRONMENT}, False),
    ({'topic': '/other'}, False), ({'name': 'other'}, False),
])
def test_another_control_goes_on_with_the_offset_of_the_same_sensor(
    changed: dict[str, Any], kept: bool
) -> None:
    first, second = WrenchRig(arm(), {'fade': 10.0}), WrenchRig(arm(), changed)
    first.run(0.1, BIAS, DRIFT)
    tare(first)
    first.run(0.2, BIAS, DRIFT)  # the blend of the offset has only begun
    second.inputs.use_offsets(first.inputs.sensors['wrist'].tare.kept)
    wrenches = second.run(0.1, BIAS, DRIFT)
    assert bool(wrenches.round(9).any()) is not kept
    (sensor,) = second.inputs.sensors.values()
    assert sensor.tare.summary(first.now + 30.0) == ('7.87 N, 0.548 N m, 30 s ago' if kept else '')


@each('cap', [{'max_force': 15.0}, {'max_torque': 1.0, 'deadband_torque': 0.0}])
def test_an_offset_over_a_cap_is_rejected(cap: dict[str, float]) -> None:
    # The model has a tool of 20 N that the reading does not show.
    rig = WrenchRig(arm(), {'placement': INLINE, **cap})
    rig.q[1] = np.pi / 2  # 0.1 m off the sensor
    before = rig.run(0.2)[-1]
    tare(rig)
    after = rig.run(0.3)[-1]
    assert rig.inputs.tare_rejections == {'wrist': Reason.OVER_CAP}
    np.testing.assert_allclose(after, before, rtol=1e-9)


@each('blend', [0.5, 0.11])  # over, and just begun
def test_an_offset_belongs_to_the_frame_that_it_was_found_in(blend: float) -> None:
    rig = WrenchRig(arm(), {'link': ''})
    rig.run(0.2, BIAS, frame='tool')
    tare(rig)
    rig.run(blend, BIAS, frame='tool')
    for frame, expected in (('tip', BIAS), ('tool', (0.0, 0.0, 0.0))):
        rig.run(0.2, None)
        np.testing.assert_allclose(rig.run(0.2, BIAS, frame=frame)[-1][3:], expected, atol=1e-8)


@each('state', [State.WAITING, State.READY])
def test_a_tare_needs_joint_states_but_no_control(state: State) -> None:
    sensor = WrenchInputSettings('w', '/w', link='lower', placement=INLINE, tare_duration=0.1)
    rig = Rig(two_joint_arm(), wrench_inputs=(sensor,))
    wrenches = rig.controller.wrenches
    rig.controller.permitted = False

    def run(seconds: float) -> None:
        for _ in range(round(seconds / rig.period)):
            wrenches.sensors['w'].monitor.take_sample(
                '', np.zeros(3), np.zeros(3), stamp=0.0, clock=0.0, received=rig.now
            )
            rig.tick(feed=state is not State.WAITING)

    run(0.2)
    assert rig.state() is state
    rig.controller.tare()
    run(0.2)
    waits = state is State.WAITING
    assert wrenches.tare_rejections == ({'w': Reason.JOINT_STATES_STALE} if waits else {})
    # A reading of zero, and a link of 1 kg.
    taken = [offset for offset, _ in wrenches.sensors['w'].tare.kept.values()]
    assert np.linalg.norm(taken) == pytest.approx(0.0 if waits else math.hypot(9.81, 0.25 * 9.81))


def test_a_tare_ends_also_if_simulated_time_is_set_back() -> None:
    tare = Tare(WrenchInputSettings('wrist', '/wrist'))
    tare.begin(100.0)
    for k in range(101):
        tare.average(0.01 * k, np.zeros(6))
    assert not tare.averaging
    assert tare.rejection is None


PUSH = (1.0, 2.0, 3.0)
NAN, INF = math.nan, math.inf


@each('reading, reason', [
    *(({'force': (1.0,) * k + (bad,) + (1.0,) * (2 - k)}, Reason.NOT_FINITE)
      for k, bad in enumerate((NAN, INF, -INF))),
    ({'torque': (1.0, 1.0, NAN)}, Reason.NOT_FINITE),
    ({'force': (30.0, 40.0, 0.1)}, Reason.OVER_CAP),
    ({'force': PUSH, 'torque': (3.0, -4.0, 0.01)}, Reason.OVER_CAP),
    ({'stamp': 50.0}, Reason.STAMP_NOT_NEWER), ({'stamp': 101.0}, Reason.STAMP_IN_FUTURE),
    *(({'frame': frame}, Reason.UNKNOWN_FRAME) for frame in ('', 'nose', 'base', 'post')),
    ({'frame': 'lower'}, Reason.FRAME_CHANGED),
])
def test_a_bad_reading_is_rejected_counted_and_does_not_count_as_the_last(
    reading: dict[str, Any], reason: Reason
) -> None:
    rig = WrenchRig(arm(), {'link': '', 'max_force': 50.0, 'max_torque': 5.0})
    assert rig.feed((30.0, 40.0, 0.0), (3.0, 4.0, 0.0), frame='tool', stamp=50.0) is None
    rig.wait(10.0)
    monitor = rig.inputs.sensors['wrist'].monitor
    newer: dict[str, Any] = {'force': PUSH, 'frame': 'tool', 'stamp': 60.0}
    for count in (1, 2):
        assert rig.feed(**(newer | reading)) is reason
        assert rig.inputs.rejections == monitor.rejections == Counter({reason: count})
        assert monitor.age(rig.now) == pytest.approx(0.01)
        assert monitor.wrench.tolist() == [3.0, 4.0, 0.0, 30.0, 40.0, 0.0]
    assert rig.feed(PUSH, frame='tool', stamp=60.0) is None
    assert rig.feed(PUSH, frame='tool', stamp=0.0) is None  # without a stamp there is no order


def test_the_settings_link_wins_over_the_frame_of_a_reading() -> None:
    assert WrenchRig(arm()).feed(PUSH, frame='some_sensor_frame') is None


def test_a_frame_does_not_change_while_its_term_acts() -> None:
    rig = WrenchRig(arm(), {'link': ''})
    rig.run(0.2, PUSH, frame='tip')
    assert rig.run(0.05, None)[-1].any()
    assert rig.feed(PUSH, frame='lower') is Reason.FRAME_CHANGED
    rig.run(0.2, None)
    assert rig.feed(PUSH, frame='lower') is None


OTHER = {'name': 'other', 'topic': '/other'}
LOWER = {'link': 'lower', 'placement': INLINE}


@each('sensors, parameter, words', [
    ([{'link': 'toool'}], 'wrist.link', "no link 'toool'; nearest are tool"),
    ([{'link': 'post'}], 'wrist.link', "no joint moves link 'post'"),
    ([{'cutoff': INF}], 'wrist.cutoff', 'inf is not between'),
    ([{'gain': 1.01}], 'wrist.gain', '1.01 is not between'),
    ([{'deadband_force': 200.1}], 'wrist.deadband_force', '200.1 is not between 0 and 200'),
    ([{'deadband_torque': 21.0}], 'wrist.deadband_torque', '21.0 is not between 0 and 20'),
    ([{'timeout': 0.2, 'tare_duration': 0.1}], 'wrist.tare_duration', 'less than the timeout'),
    ([{}, {**OTHER, 'name': 'wrist'}], '', 'is empty or taken'),
    ([{}, {**OTHER, 'topic': '/wrist'}], 'other.topic', 'is empty or taken'),
    *(([LOWER, {**OTHER, 'link': link, 'placement': placement}][::order], 'wrist.link',
       'it would count twice')
      for link, placement in (('tool', CONTACT), ('tip', INLINE), ('lower', CONTACT))
      for order in (1, -1)),
])
def test_what_cannot_be_used_is_rejected_by_name(
    sensors: list[dict[str, Any]], parameter: str, words: str
) -> None:
    with pytest.raises(InputError, match=words) as caught:
        check_wrench_inputs([WrenchInputSettings(**(PLAIN | sensor)) for sensor in sensors], arm())
    assert caught.value.argument == f'wrench_inputs.{parameter}'.rstrip('.')


def test_what_can_be_used_is_accepted() -> None:
    check_wrench_inputs([WrenchInputSettings('wrist', '/wrist')], arm())
    for other in ({'link': 'lower'}, {'link': ''}):  # nearer to the base, not carried
        sensors = ({'placement': INLINE}, OTHER | other)
        WrenchInputs(arm(), [WrenchInputSettings(**(PLAIN | sensor)) for sensor in sensors])
