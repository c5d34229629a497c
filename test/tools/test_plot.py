# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""The terms of recorded commands: found in a bag, drawn, and what to do where there are none."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from rnea_ros.errors import UnknownNameError
from rnea_ros.recordings import BagError, Kind
from rnea_ros.tools.plot import main
from rnea_ros.tools.term_picture import picture
from rnea_ros.tools.term_recording import COMMANDED, MEASURED, read_terms
from support.recorded.bags import Efforts, write_bag, write_efforts
from support.recorded.synthetic_recordings import ARM, Robot, record

JOINTS = ('shoulder', 'elbow')
N = 50
RAMP = np.outer(np.arange(N, dtype=np.float64), (1.0, -2.0))
NOTHING = np.zeros((N, 2))

NO_OTHERS: Efforts = {}
Rejected = Callable[..., str]


def write(
    path: Path, storage: str = 'MCAP', prefix: str = '', others: Efforts = NO_OTHERS
) -> Path:
    """Write a bag with gravity, an unused term, the command, and efforts in another order."""
    node = f'{prefix}/feedforward'
    efforts: Efforts = {
        f'{node}/terms/gravity': (JOINTS, RAMP),
        f'{node}/terms/friction': (JOINTS, NOTHING),
        f'{node}/effort': (JOINTS, 2.0 * RAMP),
        f'{prefix}/joint_states': (('finger', 'elbow', 'shoulder'), np.c_[NOTHING, RAMP[:, :1]]),
    }
    write_efforts(path, {**efforts, **others}, storage)
    return path


@pytest.fixture
def rejected(capsys: pytest.CaptureFixture[str]) -> Rejected:
    """Return what returns the one line by which arguments were rejected with exit code 2."""

    def line(*arguments: str | Path) -> str:
        code: object
        try:
            code = main([str(argument) for argument in arguments])
        except SystemExit as ended:
            code = ended.code
        assert code == 2
        printed = capsys.readouterr()
        assert printed.out == ''
        assert len(printed.err.splitlines()) == 1
        assert printed.err.startswith('plot: ')
        return printed.err

    return line


@pytest.mark.parametrize('storage', ['SQLITE3', 'MCAP'])
def test_terms_command_and_measured_effort_are_found_by_joint(
    tmp_path: Path, storage: str
) -> None:
    recording = read_terms(write(tmp_path / 'bag', storage))
    assert recording.node == '/feedforward'
    assert recording.joints == JOINTS
    assert tuple(recording.lines) == (MEASURED, COMMANDED, 'gravity', 'friction')
    for factor, what in ((1.0, 'gravity'), (2.0, COMMANDED), (0.0, 'friction')):
        for column, joint in enumerate(JOINTS):
            line = recording.lines[what][joint]
            np.testing.assert_array_equal(line.effort, factor * RAMP[:, column])
            np.testing.assert_allclose(line.time, 0.01 * np.arange(N), atol=1e-6)  # of doubles
    np.testing.assert_array_equal(recording.lines[MEASURED]['shoulder'].effort, RAMP[:, 0])
    assert 'finger' not in recording.lines[MEASURED]


def test_what_is_zero_or_no_number_throughout_is_left_out(tmp_path: Path) -> None:
    pytest.importorskip('matplotlib', reason='matplotlib is not installed')
    unmeasured = {'/joint_states': (JOINTS, np.full((N, 2), np.nan))}
    recording = read_terms(write(tmp_path / 'bag', others=unmeasured))
    drawn = tmp_path / 'terms.png'
    assert picture(drawn, recording) == [MEASURED, 'friction']
    assert drawn.read_bytes().startswith(b'\x89PNG')
    assert picture(drawn, recording.of_joints(['elbow'])) == [MEASURED, 'friction']


def test_a_term_is_left_out_by_the_joints_that_are_shown(tmp_path: Path) -> None:
    one = {'/feedforward/terms/friction': (JOINTS, np.c_[NOTHING[:, :1], RAMP[:, 1:]])}
    recording = read_terms(write(tmp_path / 'bag', others=one))
    assert recording.is_nonzero('friction')
    assert not recording.of_joints(['shoulder']).is_nonzero('friction')


def test_joints_whose_order_or_number_changed_are_kept_apart(tmp_path: Path) -> None:
    write(tmp_path / 'bag', others={'/feedforward/effort': (('elbow', 'wrist'), RAMP)})
    recording = read_terms(tmp_path / 'bag')
    assert recording.joints == (*JOINTS, 'wrist')
    np.testing.assert_array_equal(recording.lines[COMMANDED]['elbow'].effort, RAMP[:, 0])
    assert 'shoulder' not in recording.lines[COMMANDED]


def test_the_command_draws_and_says_where(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip('matplotlib', reason='matplotlib is not installed')
    drawn = tmp_path / 'some.png'
    bag = write(tmp_path / 'bag')
    assert main(['--bag', str(bag), '--output', str(drawn), '--joints', 'elbow']) == 0
    assert 'always zero: measured, friction\n' in capsys.readouterr().out
    assert drawn.read_bytes().startswith(b'\x89PNG')


def test_a_recording_is_named_with_or_without_the_option(
    tmp_path: Path, rejected: Rejected
) -> None:
    pytest.importorskip('matplotlib', reason='matplotlib is not installed')
    bag = str(write(tmp_path / 'bag'))
    printed = rejected(bag, '--topic', '/elsewhere')
    assert 'no joint states on /elsewhere; topics with joint states: ' in printed
    assert main([bag, '--output', str(tmp_path / 'some.png')]) == 0
    for arguments in ([bag, '--bag', bag], []):
        with pytest.raises(SystemExit, match='2'):
            main(arguments)


def test_a_namespace_is_found_and_of_several_nodes_one_is_named(
    tmp_path: Path, rejected: Rejected
) -> None:
    left = write(tmp_path / 'left', prefix='/left')
    assert read_terms(left).node == '/left/feedforward'
    assert MEASURED in read_terms(left).lines
    both = {'/right/feedforward/terms/gravity': (JOINTS, -RAMP)}
    bag = write(tmp_path / 'both', prefix='/left', others=both)
    printed = rejected('--bag', bag)
    assert 'terms of /left/feedforward, /right/feedforward; choose one with --node' in printed
    chosen = read_terms(bag, 'right/feedforward')
    np.testing.assert_array_equal(chosen.lines['gravity']['elbow'].effort, -RAMP[:, 1])
    assert set(chosen.lines) == {'gravity'}
    measured = read_terms(bag, '/right/feedforward', '/left/joint_states')
    assert set(measured.lines) == {MEASURED, 'gravity'}
    assert 'terms of' in rejected('--bag', bag, '--node', '/middle')
    with pytest.raises(BagError, match='no joint states on /elsewhere'):
        read_terms(bag, '/right/feedforward', '/elsewhere')


def test_the_error_for_a_bag_without_terms_has_its_topics_and_a_command_to_record(
    tmp_path: Path, rejected: Rejected
) -> None:
    write_bag(tmp_path / 'bag', record(Robot(ARM), Kind.STILL, 1), 'MCAP')
    printed = rejected('--bag', tmp_path / 'bag')
    assert 'its topics are /joint_states;' in printed
    assert "ros2 bag record --regex '/feedforward/(terms/.*|effort)|/joint_states'" in printed
    printed = rejected('--bag', tmp_path / 'bag', '--node', '/left/feedforward')
    assert "--regex '/left/feedforward/(terms" in printed


def test_terms_without_messages_and_unknown_joints_are_rejected(
    tmp_path: Path, rejected: Rejected
) -> None:
    write_efforts(tmp_path / 'none', {'/feedforward/terms/gravity': (JOINTS, NOTHING[:0])}, 'MCAP')
    assert 'no message with an effort' in rejected('--bag', tmp_path / 'none')
    bag = write(tmp_path / 'bag')
    assert "unknown joint 'wrist'" in rejected('--bag', bag, '--joints', 'wrist')
    with pytest.raises(UnknownNameError):
        read_terms(bag).of_joints(['finger'])
    assert 'cannot be written' in rejected('--bag', bag, '--output', tmp_path / 'no' / 'terms.png')


def test_measured_efforts_of_another_unit_are_drawn_in_newton_metres(
    tmp_path: Path, rejected: Rejected
) -> None:
    bag = write(tmp_path / 'bag')
    recording = read_terms(bag)
    scaled = recording.with_scaled_measurement(np.array([-3.0, 2.0]))
    np.testing.assert_array_equal(
        scaled.lines[MEASURED]['shoulder'].effort, -3.0 * RAMP[:, 0]
    )
    assert scaled.lines[COMMANDED] == recording.lines[COMMANDED]
    assert '3 factors for 2 joints' in rejected(bag, '--effort-scale', '1', '2', '3')
