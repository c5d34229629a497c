# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""Settings and readings of a sensor are taken whole, or rejected by name and counted."""

import math
from typing import Any

import numpy as np
import pytest

from rnea_ros.errors import InputError
from rnea_ros.feedforward import Reason
from rnea_ros.feedforward.inputs.wrench import WrenchInputs
from rnea_ros.feedforward.settings import WrenchInputSettings, check_wrench_inputs
from rnea_ros.feedforward.stamps import MAX_FUTURE
from support.control.wrench_rig import CONTACT, INLINE, PLAIN, WrenchRig, arm

PUSH = (1.0, 2.0, 3.0)


@pytest.fixture
def rig() -> WrenchRig:
    return WrenchRig(arm(), {'max_force': 50.0, 'max_torque': 5.0})


def assert_rejected(rig: WrenchRig, reason: Reason, *reading: Any, **how: Any) -> None:
    """Assert that a reading is rejected, counted, and that the term fades as without it."""
    before = rig.inputs.rejections[reason]
    assert rig.feed(*reading, **how) is reason
    assert rig.inputs.rejections[reason] == before + 1


@pytest.mark.parametrize('bad', [math.nan, math.inf, -math.inf])
@pytest.mark.parametrize('number', range(6))
def test_a_number_that_is_not_finite_is_rejected(rig: WrenchRig, bad: float, number: int) -> None:
    numbers = [1.0] * 6
    numbers[number] = bad
    assert_rejected(rig, Reason.NOT_FINITE, numbers[:3], numbers[3:])


@pytest.mark.parametrize(('most', 'over'), [
    (((30.0, 40.0, 0.0), (0.0, 0.0, 0.0)), ((30.0, 40.0, 0.1), (0.0, 0.0, 0.0))),
    ((PUSH, (3.0, 4.0, 0.0)), (PUSH, (3.0, -4.0, 0.01))),
], ids=['force', 'torque'])
def test_a_reading_is_rejected_by_its_length(rig: WrenchRig, most: Any, over: Any) -> None:
    assert rig.feed(*most) is None
    rig.step()
    assert_rejected(rig, Reason.OVER_CAP, *over)


def test_a_stamp_that_is_not_newer_is_rejected(rig: WrenchRig) -> None:
    assert rig.feed(PUSH, stamp=50.0) is None
    assert_rejected(rig, Reason.STAMP_NOT_NEWER, PUSH, stamp=50.0)
    for _ in range(2):
        assert rig.feed(PUSH, stamp=0.0) is None  # without a stamp there is no order
    assert rig.feed(PUSH, stamp=49.0) is Reason.STAMP_NOT_NEWER
    assert rig.feed(PUSH, stamp=50.001) is None


def test_a_stamp_in_the_future_is_rejected(rig: WrenchRig) -> None:
    assert rig.feed(PUSH, stamp=70.0 + 0.9 * MAX_FUTURE, clock=70.0) is None
    assert_rejected(rig, Reason.STAMP_IN_FUTURE, PUSH, stamp=70.0 + 1.2 * MAX_FUTURE, clock=70.0)


def test_a_rejected_stamp_does_not_count_as_the_last(rig: WrenchRig) -> None:
    assert rig.feed((math.nan, 0.0, 0.0), stamp=60.0) is Reason.NOT_FINITE
    assert rig.feed(PUSH, stamp=60.0) is None


def test_the_settings_link_wins_over_the_frame_of_a_reading(rig: WrenchRig) -> None:
    assert rig.feed(PUSH, frame='some_sensor_frame') is None


@pytest.mark.parametrize('frame', ['', 'nose', 'base', 'post'])
def test_without_a_set_frame_only_moving_links_are_accepted(frame: str) -> None:
    rig = WrenchRig(arm(), {'link': ''})
    assert_rejected(rig, Reason.UNKNOWN_FRAME, PUSH, frame=frame)


def test_a_frame_does_not_change_while_its_term_acts() -> None:
    rig = WrenchRig(arm(), {'link': ''})
    rig.run(0.2, PUSH, frame='tip')
    assert_rejected(rig, Reason.FRAME_CHANGED, PUSH, frame='lower')
    assert rig.run(0.05, None)[-1].any()
    assert_rejected(rig, Reason.FRAME_CHANGED, PUSH, frame='lower')
    rig.run(0.2, None)
    assert rig.feed(PUSH, frame='lower') is None


@pytest.mark.parametrize('how', [
    {'force': (math.nan, 0.0, 0.0)}, {'force': (0.0, 0.0, 51.0)}, {'stamp': 1e-6},
    {'stamp': 1e9}, {'frame': 'nose'},
])
def test_after_rejections_a_term_fades_as_if_nothing_had_come(how: dict[str, Any]) -> None:
    wrenches = []
    for rejects in (False, True):
        rig = WrenchRig(arm(), {'link': '', 'max_force': 50.0})
        rig.run(0.2, PUSH, frame='tool')
        for _ in range(100):
            if rejects:
                assert rig.feed(**({'force': PUSH, 'frame': 'tool'} | how)) is not None
            wrenches.append(rig.step())
    silent, rejecting = np.array(wrenches[:100]), np.array(wrenches[100:])
    np.testing.assert_array_equal(rejecting, silent)
    assert silent[0].any()
    assert not silent[-1].any()


@pytest.mark.parametrize('shift', [-3600.0, 3600.0])
def test_after_a_clock_was_set_the_third_reading_counts(rig: WrenchRig, shift: float) -> None:
    assert rig.feed(PUSH, stamp=5000.0 + rig.now, clock=5000.0 + rig.now) is None
    rig.wait()
    rejections = []
    for _ in range(5):
        rig.wait()
        rejections.append(rig.feed(PUSH, stamp=5000.0 + shift + rig.now, clock=5000.0 + rig.now))
    rejection = Reason.STAMP_IN_FUTURE if shift > 0.0 else Reason.STAMP_NOT_NEWER
    assert rejections == [rejection, rejection, None, None, None]


def check(*sensors: dict[str, Any]) -> None:
    check_wrench_inputs([WrenchInputSettings(**(PLAIN | sensor)) for sensor in sensors], arm())


def test_defaults_can_be_used() -> None:
    check_wrench_inputs([WrenchInputSettings('wrist', '/wrist')], arm())


def test_an_unknown_link_is_named_with_the_nearest_known_ones() -> None:
    with pytest.raises(InputError, match="no link 'toool'; nearest are tool") as caught:
        check({'link': 'toool'})
    assert caught.value.argument == 'wrench_inputs.wrist.link'


@pytest.mark.parametrize('link', ['base', 'post'])
def test_a_link_that_no_joint_moves_is_rejected(link: str) -> None:
    with pytest.raises(InputError, match=f"no joint moves link '{link}'"):
        check({'link': link})


@pytest.mark.parametrize(('parameter', 'value'), [
    ('max_force', 0.0), ('max_torque', -1.0), ('cutoff', 0.0), ('cutoff', math.inf),
    ('deadband_force', -1.0), ('deadband_torque', 21.0), ('gain', 1.01), ('gain', -0.01),
    ('gain', math.nan), ('timeout', 0.0), ('fade', 0.0), ('tare_duration', 100.0),
])
def test_a_number_out_of_its_range_is_named_with_its_value(parameter: str, value: float) -> None:
    with pytest.raises(InputError, match=f'{value} is not between') as caught:
        check({parameter: value})
    assert caught.value.argument == f'wrench_inputs.wrist.{parameter}'


def test_a_tare_is_at_least_as_long_as_the_timeout() -> None:
    check({'timeout': 0.2, 'tare_duration': 0.2})
    with pytest.raises(InputError, match='is less than the timeout'):
        check({'timeout': 0.2, 'tare_duration': 0.1})


@pytest.mark.parametrize(('name', 'topic'), [
    ('', '/other'), ('wrist', '/other'), ('other', ''), ('other', '/wrist'),
])
def test_names_and_topics_are_given_and_different(name: str, topic: str) -> None:
    with pytest.raises(InputError, match='is empty or taken'):
        check({}, {'name': name, 'topic': topic})


@pytest.mark.parametrize('placement', [CONTACT, INLINE])
@pytest.mark.parametrize('link', ['tool', 'tip', 'lower'])
def test_an_inline_sensor_carries_no_other_sensor(link: str, placement: Any) -> None:
    carrier = {'link': 'lower', 'placement': INLINE}
    other = {'name': 'other', 'topic': '/other', 'link': link, 'placement': placement}
    for order in ((carrier, other), (other, carrier)):
        with pytest.raises(InputError, match='it would count twice'):
            check(*order)


def test_a_sensor_nearer_to_the_base_is_not_carried() -> None:
    check({'placement': INLINE}, {'name': 'other', 'topic': '/other', 'link': 'lower'})
    check({'placement': INLINE}, {'name': 'other', 'topic': '/other', 'link': ''})


def test_no_sensors_are_made_of_settings_that_are_rejected() -> None:
    with pytest.raises(InputError):
        WrenchInputs(arm(), [WrenchInputSettings('wrist', '/wrist', gain=2.0)])
