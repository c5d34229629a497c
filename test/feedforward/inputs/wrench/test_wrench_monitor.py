# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""Settings and readings of a sensor are taken whole, or rejected by name and counted."""

from collections import Counter
import math
from typing import Any

import pytest

from rnea_ros.errors import InputError
from rnea_ros.feedforward import Reason
from rnea_ros.feedforward.inputs.wrench import WrenchInputs
from rnea_ros.feedforward.settings import WrenchInputSettings, check_wrench_inputs
from support.cases import each
from support.control.wrench_rig import CONTACT, INLINE, PLAIN, WrenchRig, arm

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
        WrenchInputs(arm(), [WrenchInputSettings(**(PLAIN | sensor)) for sensor in sensors])
    assert caught.value.argument == f'wrench_inputs.{parameter}'.rstrip('.')


def test_what_can_be_used_is_accepted() -> None:
    check_wrench_inputs([WrenchInputSettings('wrist', '/wrist')], arm())
    for other in ({'link': 'lower'}, {'link': ''}):  # nearer to the base, not carried
        sensors = ({'placement': INLINE}, OTHER | other)
        WrenchInputs(arm(), [WrenchInputSettings(**(PLAIN | sensor)) for sensor in sensors])
