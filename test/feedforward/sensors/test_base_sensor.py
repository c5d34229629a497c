# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""Which messages of the base's IMU are taken, what is made of them, and what follows silence."""

import math
from typing import Any

import numpy as np
import pytest

from rnea_ros.errors import InputError
from rnea_ros.feedforward import Reason
from rnea_ros.feedforward.settings import BaseSensorSettings, BaseUse, StaleBase
from rnea_ros.feedforward.settings.resolved import check_base_sensor
from rnea_ros.feedforward.stamps import MAX_FUTURE
from support.cases import each
from support.control.base_rig import CLOCK, STILL, BaseRig, G, about, tilting_robot

NAN, INF = math.nan, math.inf
DOWN = [0.0, 0.0, -G]
ROLLED = about((1, 0, 0), 0.5)
ROLLED_DOWN = [0.0, -G * math.sin(0.5), -G * math.cos(0.5)]
"""Gravity in the axes of a base that has rolled: its y axis points up, gravity down along it."""


def assert_close(actual: Any, expected: Any, atol: float = 1e-10) -> None:
    np.testing.assert_allclose(actual, expected, rtol=1e-9, atol=atol)


@each('settings, words', [
    ({'timeout': NAN}, r'base_sensor\.timeout: nan is not between'),
    ({'link': 'arm'}, r"link 'arm' of robot 'robot' moves.*fixed to the root link are base, "),
    ({'link': 'Imu'}, r"link: robot 'robot' has no link 'Imu'.*plate, imu"),
])
def test_settings_that_cannot_be_used_are_rejected_by_name(
    settings: dict[str, Any], words: str
) -> None:
    with pytest.raises(InputError, match=words):
        check_base_sensor(BaseSensorSettings(**settings), BaseRig().model)


@each('use', BaseUse)
@each('message, reason', [
    ({'frame_id': ''}, Reason.UNKNOWN_FRAME), ({'frame_id': 'hand_imu'}, Reason.UNKNOWN_FRAME),
    ({'stamp': CLOCK + 1000.05 + MAX_FUTURE + 1e-4}, Reason.STAMP_IN_FUTURE),
    ({'stamp': NAN}, Reason.STAMP_IN_FUTURE),
    ({'orientation': None, 'push': None}, Reason.PART_MISSING),
    ({'orientation': (0.0, NAN, 0.0, 1.0)}, Reason.NOT_FINITE),
    ({'orientation': None, 'push': (0.0, INF, G)}, Reason.NOT_FINITE),
    ({'orientation': (0.0, 0.0, 0.0, 1.011)}, Reason.NOT_UNIT_QUATERNION),
    ({'orientation': (0.0, 0.0, 0.0, 0.989)}, Reason.NOT_UNIT_QUATERNION),
    ({'orientation': None, 'push': (0.0, 30.1, 40.0)}, Reason.OVER_CAP),
    ({'orientation': None, 'push': (0.0, 0.0, 0.98)}, Reason.FREE_FALL),
])
def test_a_message_with_a_fault_is_rejected_whole_and_counted(
    use: BaseUse, message: dict[str, Any], reason: Reason
) -> None:
    rig = BaseRig(use=use)
    for age in (INF, 0.05):
        before = np.concatenate(rig.sample())
        assert rig.feed(**message) is reason
        assert rig.sensor.imu.age(rig.now) == pytest.approx(age)
        assert_close(np.concatenate(rig.sample()), before)
        assert rig.sensor.stale is (age == INF)
        assert rig.sensor.imu.rejections[reason] >= 1
        assert rig.feed() is None
        rig.now += 0.05
        if reason is Reason.UNKNOWN_FRAME:
            reason = Reason.FRAME_CHANGED


@each('message, reason', [
    ({'turn': None}, Reason.PART_MISSING), ({'push': None}, Reason.PART_MISSING),
    ({'turn': (NAN, 0.0, 0.0)}, Reason.NOT_FINITE), ({'turn': (6.0, 8.1, 0.0)}, Reason.OVER_CAP),
    ({'push': (30.1, 0.0, 40.0)}, Reason.OVER_CAP), ({'push': STILL}, Reason.FREE_FALL),
])
def test_only_what_is_used_is_looked_at(message: dict[str, Any], reason: Reason) -> None:
    assert BaseRig(use=BaseUse.MOTION).feed(**message) is reason
    assert BaseRig(use=BaseUse.TILT).feed(**message) is None


@each('shift', [-3600.0, 3600.0])
def test_after_the_clock_of_stamps_was_set_the_third_message_counts(shift: float) -> None:
    rig = BaseRig(use=BaseUse.MOTION, timeout=0.1)
    before = rig.run(1.0, turn=(0.1, 0.0, 0.0))
    for number in range(3):
        rig.now += 0.01
        reason = rig.feed(turn=(0.2, 0.0, 0.0), stamp=CLOCK + shift + rig.now)
        assert (reason is None) == (number == 2)
    # Filtered over the time that really passed: one message does not bring all of the change.
    turned = rig.sample().velocity[0] - before.velocity[0]
    assert 0.0 < turned < 0.09


def test_messages_of_another_link_are_rejected_until_the_first_stops() -> None:
    rig = BaseRig(timeout=0.1)
    assert rig.feed('plate') is None
    rig.now += 0.09
    assert rig.feed('imu') is Reason.FRAME_CHANGED
    rig.now += 0.02
    assert rig.feed('imu') is None
    assert rig.feed('plate') is Reason.FRAME_CHANGED


@each('length', [0.9901, 1.0, 1.0099])
def test_gravity_always_has_the_length_of_the_model(length: float) -> None:
    moon = tilting_robot(gravity=(0.0, 0.0, -1.62))
    quaternion = length * np.array(ROLLED)
    rolled = np.array(ROLLED_DOWN) * 1.62 / G
    assert_close(BaseRig(moon).run(1.0, orientation=quaternion).gravity, rolled)
    assert_close(BaseRig(moon).run(1.0, orientation=None, push=-3.0 * rolled).gravity, rolled)


def test_the_accelerometer_is_filtered_and_an_orientation_is_not() -> None:
    tipped = np.array((G, 0.0, 0.0))
    for parts in ({'orientation': None}, {'orientation': ROLLED}):
        # An orientation is not used if so set.
        rig = BaseRig(tilt_cutoff=1.0, max_angular_velocity=100.0, use_orientation=False)
        rig.run(1.0, **parts)
        rig.run(1.0 / math.tau, period=1e-4, **parts, push=tipped)
        # After one time constant a first-order filter is 1 - 1/e of the way.
        expected = math.exp(-1.0) * np.array(DOWN) - (1.0 - math.exp(-1.0)) * tipped
        assert_close(rig.sample().gravity, G * expected / np.linalg.norm(expected), atol=1e-2)
    rig = BaseRig(tilt_cutoff=0.01)
    rig.run(1.0, orientation=None)
    assert_close(rig.run(0.06, orientation=ROLLED).gravity, ROLLED_DOWN)
    # It starts again when orientations stop.
    rig.run(1.0)
    state = rig.run(0.06, orientation=None, push=-np.array(ROLLED_DOWN))
    assert_close(state.gravity, ROLLED_DOWN)


@each('stamped, dt', [(True, 0.01), (False, 0.03)])
def test_filters_use_stamps_or_the_time_of_receipt(stamped: bool, dt: float) -> None:
    rig = BaseRig(use=BaseUse.MOTION, motion_cutoff=1.0)
    stamps = iter(np.arange(1.0, 3.0, 0.01) if stamped else np.zeros(200))
    for turn in [STILL] * 100 + [(1.0, 0.0, 0.0)]:
        rig.now += 0.03
        assert rig.feed(turn=turn, stamp=float(next(stamps))) is None
        rig.sample()
    # One step of a filter whose time constant is 1 / (2 pi cutoff).
    assert_close(rig.sample().velocity[0], dt / (dt + 1.0 / math.tau))


def test_gravity_follows_a_jump_no_faster_than_the_base_may_turn() -> None:
    rig = BaseRig(max_angular_velocity=2.0)
    rig.run(1.0)
    states = [rig.run(0.01, orientation=ROLLED).gravity for _ in range(30)]
    steps = np.linalg.norm(np.diff(states, axis=0), axis=1)
    assert steps.max() == pytest.approx(G * 2.0 * 0.01)
    assert_close(states[-1], ROLLED_DOWN)


@each('stale, gravity', [(StaleBase.CONFIGURED, DOWN), (StaleBase.HOLD, ROLLED_DOWN)])
def test_a_base_whose_sensor_is_silent_counts_as_at_rest(
    stale: StaleBase, gravity: list[float]
) -> None:
    rig = BaseRig(use=BaseUse.MOTION, stale=stale, timeout=0.095, fade=0.5)
    assert rig.wait(1.0).gravity.tolist() == DOWN  # there was none yet
    moving = rig.run(2.0, orientation=ROLLED, turn=(1.0, 2.0, 3.0), push=(4.0, 5.0, 6.0))
    assert_close(moving.gravity, ROLLED_DOWN)
    assert_close(moving.velocity, [1.0, 2.0, 3.0, 0.0, 0.0, 0.0])
    assert_close(moving.acceleration, [0.0, 0.0, 0.0, *np.add((4.0, 5.0, 6.0), ROLLED_DOWN)])
    assert_close(rig.wait(0.09).gravity, ROLLED_DOWN)
    assert not rig.sensor.stale
    # The blend begins at the first tick after the timeout.
    half_way = rig.wait(0.01 + 0.25)
    assert_close(half_way.gravity, 0.5 * np.add(ROLLED_DOWN, gravity))
    assert_close(half_way.velocity, 0.5 * moving.velocity)
    assert_close(half_way.acceleration, 0.5 * moving.acceleration)
    assert_close(np.concatenate(rig.wait(0.26)), [*gravity, *[0.0] * 12])
    assert rig.sensor.stale


@each('noticed', [True, False])
@each('stale', StaleBase)
def test_a_sensor_that_comes_back_is_blended_in_again(stale: StaleBase, noticed: bool) -> None:
    rig = BaseRig(use=BaseUse.MOTION, stale=stale, timeout=0.1, fade=0.5)
    rig.run(1.0)
    if noticed:
        rig.wait(1.0)
    else:
        rig.now += 1.0  # the loop was kept from running
    back: dict[str, Any] = {'orientation': ROLLED, 'turn': (1.0, 0.0, 0.0)}
    begun = rig.run(0.01, **back)
    assert_close(np.concatenate(begun), [*DOWN, *[0.0] * 12])
    half_way = rig.run(0.25, **back)
    assert_close(half_way.gravity, 0.5 * (np.array(ROLLED_DOWN) + DOWN))
    assert_close(half_way.velocity[0], 0.5)
    assert_close(rig.run(0.25, **back).gravity, ROLLED_DOWN)


def test_filters_do_not_remember_what_came_before_a_silence() -> None:
    rig = BaseRig(use=BaseUse.MOTION, tilt_cutoff=0.01, motion_cutoff=0.1, fade=0.01)
    rig.run(1.0, orientation=None, turn=(1.0, 0.0, 0.0))
    rig.wait(1.0)
    state = rig.run(0.05, orientation=None, turn=(0.0, 2.0, 0.0), push=(0.0, G, 0.0))
    assert_close(state.gravity, [0.0, -G, 0.0])
    assert_close(state.velocity, [0.0, 2.0, 0.0, 0.0, 0.0, 0.0])
    assert not state.acceleration[:3].any()
