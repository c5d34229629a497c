# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""A dry run shows what was read as what, and suggests order, zeros and units from the data."""

from dataclasses import replace
from pathlib import Path
import re
from typing import Any

import numpy as np
import pytest

from rnea_ros import RobotModel
from rnea_ros.preflight import understood
from rnea_ros.recordings import Kind, Recorded, Recording
from rnea_ros.tools import identify, preflight, replay
from support.recorded.synthetic_recordings import ARM, UR, UR5E, Robot, record
from support.tools import finished

PANDA_POSES, UR_POSES = (record(Robot(model), Kind.STILL, 3) for model in (ARM, UR))
MOTION = record(Robot(UR), Kind.MOTION, 1)
GAIN = np.linspace(0.05, 0.2, 7)  # N m per unit of the recorded effort


def said(
    model: RobotModel, recording: Recording, table: Recorded | None = None, **changes: Any
) -> str:
    table = table or Recorded('a', recording, {})
    return understood(model, replace(table, recording=replace(recording, **changes)))


def test_nothing_is_suggested_for_a_sound_recording() -> None:
    for model, recording in ((ARM, PANDA_POSES), (UR, UR_POSES), (UR, MOTION)):
        text = said(model, recording)
        assert text.endswith('\n- nothing looks wrong')
        assert text.count('rad, N m') == len(recording.names)


@pytest.mark.parametrize('turns', [
    (0, 1, 0, 0, 0, 0), (0, -1, 0, -1, 0, 0), (0, 1, -1, 2, 0, 0)
])
def test_zeros_that_are_quarters_of_a_turn_off_are_found(turns: tuple[int, ...]) -> None:
    for model, recording, quarter in ((ARM, PANDA_POSES, 90), (UR, UR_POSES, 1.571)):
        given = {'degrees': quarter == 90, 'offset': quarter}
        table = Recorded('a', recording, {}, settings=given)
        off = np.resize((*turns, 0), len(recording.names))
        text = said(model, recording, table, position=recording.position - 0.5 * np.pi * off)
        found = re.search('--table offset=([-.0-9,]+) leaves', text)
        assert found
        offsets = np.array(found[1].split(','), dtype=float) / quarter - 1.0
        assert (np.round(offsets) % 4 == off % 4).all()
        assert 'of the efforts unexplained' in text


@pytest.mark.parametrize('order', [(2, 1, 0, 3, 4, 5, 6), (6, 5, 4, 3, 2, 1, 0)])
def test_another_order_of_the_joints_is_found(order: tuple[int, ...]) -> None:
    moved = {name: getattr(PANDA_POSES, name)[:, order]
             for name in ('position', 'velocity', 'effort')}  # fmt: skip
    joints = ','.join(PANDA_POSES.names[k] for k in order)
    assert f'--table joints={joints} ' in said(ARM, PANDA_POSES, **moved)


def test_inverted_axes_are_found_in_the_order_of_the_table() -> None:
    flipped = np.where(np.array(MOTION.names) == 'shoulder_lift_joint', -1.0, 1.0)
    moved = {name: flipped * getattr(MOTION, name) for name in ('position', 'velocity', 'effort')}
    table = replace(MOTION, **moved).of_joints(MOTION.names[::-1])
    assert said(UR, table).endswith('of a table: --table sign=1,1,1,1,-1,1')
    given = {'sign': [-1, 1, 1, 1, -1, 1], 'offset': [0.1, 0.0, 0.0, 0.0, 0.2, 0.0]}
    text = said(UR, table, Recorded('a', table, {}, settings=given))
    assert text.endswith('--table sign=-1,1,1,1,1,1 --table offset=0.1,0,0,0,-0.2,0')


def test_degrees_and_units_of_efforts_are_found_together() -> None:
    named = [f'actual_current_{k}' for k in range(7)]
    columns = dict.fromkeys(('position', 'velocity', 'effort'), named)
    table = replace(
        PANDA_POSES, position=np.degrees(PANDA_POSES.position),
        velocity=np.degrees(PANDA_POSES.velocity), effort=PANDA_POSES.effort / GAIN
    )
    text = said(ARM, table, Recorded('a', table, columns))
    assert 'positions are in degrees' in text
    assert 'or of the motors (of a table: --table degrees=true or gear=...)' in text
    assert text.count('rad, current') == 7
    assert 'currents: give effort_scale, N m/A' in text
    scaled = said(ARM, table, Recorded('a', table, columns, settings={'effort_scale': 2.0}))
    assert 'rad, N m' in scaled
    for output, given in ((text, 1.0), (scaled, 2.0)):
        found = re.search('effort_scale=([-.0-9,e]+)', output)
        assert found
        scale = np.array([float(each) for each in found[1].split(',')])
        loaded = [1, 2, 3]
        np.testing.assert_allclose(scale[loaded], given * GAIN[loaded], rtol=0.3)


def test_every_tool_prints_what_it_understood_and_stops(tmp_path: Path) -> None:
    table, arm = tmp_path / 'a.npz', MOTION
    np.savez(table, time=arm.time, q=np.degrees(arm.position), tau=arm.effort)
    for tool in (identify, preflight, replay):
        ended = finished(tool.main, table, '--urdf', UR5E, '--dry-run', '--table',
                         'degrees=true', 'position=q[0]..q[5]')  # fmt: skip
        assert (ended.returncode, ended.stderr) == (0, '')
        assert 'a.npz: 1251 samples, 25.0 s, 50.0 Hz (time: column time, s)' in ended.stdout
        assert re.search(r'elbow_joint +q\[2\] +tau\[2\] +-?[0-9]', ended.stdout)
