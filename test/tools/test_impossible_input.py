# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""Files and numbers that no tool can work with: one sentence, exit code 2, no warning."""

from pathlib import Path
import sys

import pytest

from rnea_ros.recordings.bags import bag_fault
from support.fuzz.command_lines import fault, prepare, run
from support.fuzz.hostile_files import LONG, write_files
from support.ros.ros_process import NO_ROS

pytest.importorskip('rosbags', reason='rosbags is not installed')
pytest.importorskip('scipy', reason='scipy is not installed')
pytest.importorskip('matplotlib', reason='matplotlib is not installed')

MOTION = 'motion --urdf arm.urdf'


@pytest.fixture(scope='module')
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp('files')
    write_files(path)
    prepare(path)
    return path


@pytest.mark.parametrize(('line', 'reason'), [
    ('identify motion --urdf no_inertials.urdf', 'no moving link has a mass'),
    ('identify motion --urdf massless.urdf', 'no moving link has a mass'),
    ('identify motion --urdf heavy.urdf', 'masses or lengths are too large'),
    (f'preflight {MOTION} --gravity 0 0 0', '--gravity is zero'),
    (f'preflight {MOTION} --gravity 0 0 1e300', 'is not a gravity'),
    (f'identify {MOTION} --effort-scale 1e300', 'has no size between 1e-6 and 1e6'),
    (f'preflight {MOTION} --effort-scale 1e-300', 'has no size between 1e-6 and 1e6'),
    (f'identify {MOTION} --cutoff 1e-9', '1e-09 Hz is not at least 0.1 Hz'),
    (f'identify {MOTION} --prior-weight 1e-300', 'is not between 1e-09 and 1000'),
    (f'identify {MOTION} --prior-weight 1e300', 'is not between 1e-09 and 1000'),
    (f'identify {MOTION} --keep-friction deep.yaml', 'deep.yaml is not YAML'),
    (f'replay {MOTION} --params-file deep.yaml', 'deep.yaml is not YAML'),
    (f'replay motion --urdf {LONG}', 'File name too long'),
    ('excite --urdf arm.urdf --out out/a --duration 1e300', 'at most 86400 s'),
])
def test_impossible_input_is_rejected_in_a_sentence(line: str, reason: str, folder: Path) -> None:
    rejected(line, reason, folder)


@pytest.mark.parametrize('name', [f'out/{LONG}', 'none/a', 'out', 'good.yaml/a', 'out/loop'])
@pytest.mark.parametrize('line', [
    f'preflight {MOTION} --picture', f'preflight {MOTION} --write',
    f'identify {MOTION} --write-urdf', f'identify {MOTION} --write-parameters',
    f'identify {MOTION} --report', f'identify {MOTION} --picture',
    f'replay {MOTION} --csv', f'replay {MOTION} --picture',
    'check_trajectory good.yaml --urdf arm.urdf --picture', 'excite --urdf arm.urdf --out',
])  # fmt: skip
def test_an_unwritable_file_is_rejected_first(line: str, name: str, folder: Path) -> None:
    rejected(f'{line} {name}', f'{name} cannot be written', folder)


@pytest.mark.parametrize('line', [
    f'preflight {LONG} --urdf arm.urdf', f'identify {LONG} --urdf arm.urdf',
    f'replay {LONG}.db3 --urdf arm.urdf',
    f'identify {MOTION} --validate {LONG}', f'check_trajectory {LONG} --urdf arm.urdf',
])  # fmt: skip
def test_a_name_that_no_file_can_have_does_not_exist(line: str, folder: Path) -> None:
    rejected(line, 'does not exist', folder)


@pytest.mark.parametrize(('bag', 'reason'), [
    ('motion_metadata_none', 'metadata.yaml is missing; name its file: motion_metadata_none/'),
    ('motion_metadata_void', 'metadata.yaml or motion.db3 is damaged'),
    ('motion_metadata_number', 'name its file: motion_metadata_number/motion.db3'),
    ('folder', 'the directory has no .db3 or .mcap file'),
    ('lost', 'the directory has no .db3 or .mcap file'),
    ('void.db3', 'the file is empty; record again'), ('text.mcap', 'it is not a .mcap file'),
    ('good.yaml', 'it is not a bag; name a directory'),
    ('mcap_cut_0.9.mcap', 'its end is missing, as the recorder was killed'),
    ('motion_cut_0.3.db3', 'it is damaged; recover it: sqlite3'),
    ('motion_cut_0.9.db3', 'it is damaged; recover it: sqlite3'),
    ('mcap_dirty_1.mcap', 'a broken message: that of 1000000001.180 s on /joint_states'),
])
def test_the_sentence_about_a_bad_bag_has_a_way_out(bag: str, reason: str, folder: Path) -> None:
    line = rejected(f'preflight {bag} --urdf arm.urdf', reason, folder)
    assert line.startswith(f'preflight: {bag} ')
    assert 'object' not in line


def test_the_file_of_a_bag_without_metadata_can_be_read(folder: Path) -> None:
    bag = 'motion_metadata_none/motion.db3'
    end, whole = (
        run('preflight', [name, '--urdf', 'arm.urdf'], folder) for name in (bag, 'motion')
    )
    assert (end.code, end.out) == (whole.code, whole.out)


def test_a_bag_of_several_files_without_metadata_is_indexed_again(tmp_path: Path) -> None:
    for number in range(2):
        (tmp_path / f'part_{number}.mcap').write_bytes(b'\x89MCAP0\r\n')
    assert f'ros2 bag reindex -s mcap {tmp_path}' in bag_fault(tmp_path)


@pytest.mark.parametrize('field', ['position', 'velocity', 'effort'])
@pytest.mark.parametrize('number', ['far', 'infinite'])
@pytest.mark.parametrize('tool', ['preflight', 'identify', 'replay'])
def test_huge_numbers_leave_no_warning(tool: str, number: str, field: str, folder: Path) -> None:
    slow = ['-p', 'rate:=100.0'] if tool == 'replay' else []
    end = run(tool, [f'{number}_{field}_few', '--urdf', 'arm.urdf', *slow], folder)
    assert fault(tool, end, folder) == '', end.err


def test_too_high_a_speed_of_playing_is_rejected(folder: Path) -> None:
    pytest.importorskip('rclpy', reason=NO_ROS)
    for speed in ('1e-300', '1e300'):
        rejected(f'play_joint_states motion --speed {speed}', 'is not between', folder)


@pytest.mark.parametrize('tool', ['preflight', 'identify', 'replay'])
def test_a_missing_package_is_named(
    tool: str, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    missing = 'scipy' if tool == 'identify' else 'rosbags'
    for name in {missing, *(name for name in sys.modules if name.startswith(f'{missing}.'))}:
        monkeypatch.setitem(sys.modules, name, None)
    rejected(f'{tool} motion --urdf arm.urdf', f'pip install {missing}', folder)


def rejected(line: str, reason: str, folder: Path) -> str:
    """Return the sentence by which a command line is rejected."""
    tool, *arguments = line.split()
    end = run(tool, arguments, folder)
    assert end.code == 2, end.out + end.err
    assert fault(tool, end, folder) == ''
    assert reason in end.err
    return end.err
