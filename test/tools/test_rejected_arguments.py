# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""Arguments and files that no tool can work with: one sentence, exit code 2, no warning."""

from pathlib import Path
import sys

import pytest

from rnea_ros.recordings.bags import bag_fault
from support.fuzz.command_lines import fault, prepare, run
from support.fuzz.hostile_files import LONG, write_files
from support.ros.ros_process import NO_ROS

for package in ('rclpy', 'rosbags', 'scipy', 'matplotlib', 'yaml'):
    pytest.importorskip(package, reason=NO_ROS if package == 'rclpy' else 'not installed')

MOTION = 'motion --urdf arm.urdf'
CHECK = 'check_trajectory good.yaml --urdf arm.urdf'
EXCITE = 'excite --urdf arm.urdf'
TEACH = 'teach --urdf arm.urdf --out out/a'
PLAY = 'teach --urdf arm.urdf --play good.yaml'
EXPORT = 'export --urdf arm.urdf --out out/c'
ROS = '--ros-args'


@pytest.fixture(scope='module')
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp('files')
    write_files(path)
    prepare(path)
    return path


@pytest.mark.parametrize(('line', 'reason'), [
    ('preflight motion', 'a recording needs --urdf'),
    (f'preflight {MOTION} --poses 7', '--poses 7 is less than 8'),
    (f'preflight {MOTION} --duration nan', '--duration: nan is not positive and finite'),
    (f'preflight {MOTION} --effort-scale 0', '0 has no size between 1e-6 and 1e6'),
    (f'preflight {MOTION} --effort-scale 1e-300', 'has no size between 1e-6 and 1e6'),
    (f'preflight {MOTION} --effort-scale 1 2 3', '--effort-scale: 3 factors for 2 joints'),
    (f'preflight {MOTION} --joints a', 'a is not MODEL=RECORDED'),
    (f'preflight {MOTION} --joints a=', 'a= is not MODEL=RECORDED'),
    (f'preflight {MOTION} --joints wrist=elbow', "'wrist'"),
    (f'preflight {MOTION} --joints elbow=wrist', "'wrist' is not recorded"),
    (f'preflight {MOTION} --use dance', "'dance'"),
    (f'preflight {MOTION} --gravity 0 0 0', '--gravity is zero'),
    (f'preflight {MOTION} --gravity 0 0 1.01e4', '1.01e4 m/s^2 is not a gravity'),
    (f'preflight {MOTION} --friction parameters.yaml --write out/a', 'leave out --friction'),
    (f'preflight {MOTION} --topic /a', 'no joint states on /a; topics with joint states: /joint_'),
    ('preflight motion --urdf none.urdf', 'none.urdf'),
    ('identify motion', 'a recording needs --urdf'),
    ('identify motion --urdf no_inertials.urdf', 'no moving link has a mass'),
    ('identify motion --urdf massless.urdf', 'no moving link has a mass'),
    ('identify motion --urdf heavy.urdf', 'masses or lengths are too large'),
    ('identify motion --urdf broken.urdf', 'URDF'),
    (f'identify {MOTION} --write-urdf arm.urdf', 'name another file'),
    (f'identify {MOTION} --payload lower --links lower', '--payload takes no --links'),
    (f'identify {MOTION} --payload lower --picture out/a', '--payload takes no --picture'),
    (f'identify {MOTION} --payload lower --validate poses', '--payload takes no --validate'),
    (f'identify {MOTION} --payload lower --write-urdf out/a', '--payload takes no --write-urdf'),
    (f'identify {MOTION} --payload hand', "unknown link 'hand'; known are base, upper, lower"),
    (f'identify {MOTION} --links base', "unknown moving link 'base'; known are upper, lower"),
    (f'identify {MOTION} --effort-scale 1 1 -1', '--effort-scale: 3 factors for 2 joints'),
    (f'identify {MOTION} --effort-scale 1e300', 'has no size between 1e-6 and 1e6'),
    (f'identify {MOTION} --cutoff 1e-9', '1e-09 Hz is not at least 0.1 Hz'),
    (f'identify {MOTION} --cutoff -1', '--cutoff: -1 is not positive'),
    (f'identify {MOTION} --prior-weight 1e-300', 'is not between 1e-09 and 1000'),
    (f'identify {MOTION} --prior-weight 1e300', 'is not between 1e-09 and 1000'),
    (f'identify {MOTION} --prior-weight 0', '0 is not positive'),
    (f'identify {MOTION} --keep-friction deep.yaml', 'deep.yaml is not YAML'),
    (f'identify {MOTION} --validate {LONG}', 'does not exist'),
    ('replay motion', '--urdf'),
    (f'replay {MOTION} --no-such-option', '--no-such-option'),
    (f'replay motion --urdf {LONG}', 'File name too long'),
    (f'replay {MOTION} -p rate', 'rate is not NAME:=VALUE'),
    (f'replay {MOTION} -p rate:=[1', 'is not YAML'),
    (f'replay {MOTION} -p rate:=500', 'rate: 500 is not of type float'),
    (f'replay {MOTION} -p mode:=dance', "'dance'"),
    (f'replay {MOTION} -p speed:=1.0', 'speed: no such parameter'),
    (f'replay {MOTION} -p joints:=[wrist]', "'wrist'"),
    (f'replay {MOTION} --params-file none.yaml', 'none.yaml'),
    (f'replay {MOTION} --params-file deep.yaml', 'deep.yaml is not YAML'),
    (f'replay {MOTION} --params-file unknown.yaml', 'no_such_parameter'),
    (f'replay {MOTION} --joints wrist=elbow', "'wrist'"),
    ('replay other --urdf arm.urdf', 'no recorded joint'),
    ('replay empty --urdf arm.urdf', 'no joint state'),
    ('replay single --urdf arm.urdf', 'at least 2 are needed'),
    ('replay without_effort --urdf arm.urdf', 'no effort'),
    ('check_trajectory good.yaml', '--urdf'),
    ('check_trajectory --urdf arm.urdf', 'name a file, or --topic'),
    (f'{CHECK} --index -1', '--index -1 is negative'), (f'{CHECK} --timeout nan', 'nan is not pos'),
    (f'{CHECK} --start 1', '1 is not JOINT=POSITION'),
    (f'{CHECK} --start elbow=b', "'b' is not a number"),
    (f'{CHECK} --start wrist=1', "unknown joint 'wrist'"),
    (f'{CHECK} --effort-limits elbow=inf', 'inf is not finite'),
    (f'{CHECK} --effort-limits wrist=1', "unknown joint 'wrist'"),
    (f'{CHECK} --effort-limits 0', '0 is not above 0'),
    (f'{CHECK} --payload hand 1 0 0 0', "'hand'"), (f'{CHECK} --payload lower x 0 0 0', "'x'"),
    (f'{CHECK} --gravity nan 0 0', 'nan m/s^2 is not a gravity'),
    (f'{CHECK} --rate 0', 'rate: 0 Hz'), (f'{CHECK} --dance', '--dance'),
    (EXCITE, '--out'), (f'{EXCITE} --out out/a --yes', '--motion, --record and --yes need --pub'),
    (f'{EXCITE} --motion good.yaml', '--motion, --record and --yes need --publish'),
    (f'{EXCITE} --out out/a --record out/b', '--motion, --record and --yes need --publish'),
    (f'{EXCITE} --motion good.yaml --publish --start elbow=0', '--motion takes no --start'),
    (f'{EXCITE} --motion good.yaml --publish --after motion', '--after is for a new motion'),
    (f'{EXCITE} --publish --yes --record motion', '--record: motion exists already'),
    (f'{EXCITE} --out out/a --floor 0 --box -1 1 -1 1 -1 1', 'not both'),
    (f'{EXCITE} --out out/a --keep-inside lower', '--keep-inside needs --floor or --box'),
    (f'{EXCITE} --out out/a --start 3', '--start: 3 is not JOINT=POSITION'),
    (f'{EXCITE} --out out/a --speed 1.001', '1.001 is above 1'),
    (f'{EXCITE} --out out/a --speed 9e-4', '9e-4 is below 0.001'),
    (f'{EXCITE} --out out/a --omit thumb', "unknown joint 'thumb'"),
    (f'{EXCITE} --out out/a --box 0 1 0 1 x 1', "--box: 'x' is not a number"),
    (f'{EXCITE} --out out/a --floor 0.5', 'link lower: its origin is at z = 0 m at the start'),
    (f'{EXCITE} --out out/a --duration 1e300', 'at most 86400 s'),
    (f'{EXCITE} --publish', 'there is no terminal; see --yes'),
    ('teach --urdf arm.urdf', 'give --out to teach a motion, or --play'),
    (f'{PLAY} --out out/a', 'give --out to teach a motion, or --play'),
    (TEACH, 'there is no terminal for keys; see --seconds'),
    (f'{TEACH} --waypoints', 'there is no terminal for keys'),
    (f'{TEACH} --waypoints --seconds 1', '--waypoints takes no --seconds'),
    (f'{TEACH} --seconds 0', '0 is not positive'),
    (f'{TEACH} --seconds 1 --repeat 2', '--repeat, --to and --yes need --play'),
    (f'{TEACH} --seconds 1 --to a', '--repeat, --to and --yes need --play'),
    (f'{TEACH} --seconds 1 --velocity-limits x', "--velocity-limits: 'x' is not a number"),
    (PLAY, 'there is no terminal; see --yes'),
    (f'{PLAY} --yes --seconds 1', '--play takes no BAG, --seconds'),
    (f'{PLAY} --yes --waypoints', '--play takes no BAG, --seconds, --waypoints'),
    (f'{PLAY} --yes --repeat 0', '--repeat 0 is not above 0'),
    (f'{PLAY} --yes --speed 2', '2 is above 1'),
    ('teach motion --out out/a', 'BAG needs --urdf'), (f'{TEACH} none', 'none'),
    (f'{TEACH} motion --seconds 1', 'takes no --seconds'),
    (f'{TEACH} motion --omit shoulder elbow', 'no joint is left: --omit names all'),
    ('export --urdf arm.urdf', '--out'), (f'{EXPORT} --prefix my-arm', 'not a name in C'),
    (f'{EXPORT} --frame elbow', "'elbow'"), ('export --urdf arm.urdf --out good.yaml', 'good.yaml'),
    (f'{EXPORT} --params-file unknown.yaml', 'no_such_parameter'),
    ('play_joint_states', 'BAG'), ('play_joint_states none.db3', 'none.db3 does not exist'),
    ('play_joint_states motion --speed 9e-4', '0.0009 is not between 0.001 and 1000'),
    ('play_joint_states motion --speed 1001', '1001 is not between 0.001 and 1000'),
    ('play_joint_states motion --wait nan', '--wait is not a number'),
    ('play_joint_states empty', 'empty has no joint state'),
    ('play_joint_states motion --urdf none.urdf', 'none.urdf'),
    ('activate_controller', 'controller'), ('activate_controller a b', 'b'),
    ('activate_controller a --timeout 0', '0 is not positive'),
    ('demo --robot r2d2', "'r2d2'"), ('demo --rate 49.9', '49.9 is not between 50 and 2000 Hz'),
    ('demo --rate 2001', '2001 is not between 50 and 2000 Hz'), ('demo --rate 300', 'multiple of'),
    ('demo --seconds 1.9', '1.9 is not between 2 and 600 s'), ('demo --urdf none.urdf', 'none.urdf'),
    ('demo --seconds 601', '601 is not between 2 and 600 s'), ('demo --urdf broken.urdf', 'URDF'),
    ('demo --identify --perfect-model', '--perfect-model'),
    ('demo --teleoperation --identify', '--teleoperation'),
    ('demo --teleoperation --rate 250', 'no other --rate'),
    ('demo --identify --real-time', 'no --real-time'), ('demo --output good.yaml/a', 'good.yaml'),
    ('demo --ros-args -r bad', '--ros-args'),
])  # fmt: skip
def test_bad_arguments_are_named(
    line: str, reason: str, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv('ROS_DOMAIN_ID', '1')
    rejected(line, reason, folder)


@pytest.mark.parametrize('line', [
    'preflight', 'identify', 'play_joint_states motion', 'activate_controller a',
    'check_trajectory --topic t --urdf arm.urdf', f'{EXCITE} --publish --yes',
    f'{TEACH} --seconds 1', f'{PLAY} --yes', 'feedforward_node', 'simulated_robot',
    'effort_watchdog', 'trajectory_effort', 'teleoperation',
])
@pytest.mark.parametrize(('arguments', 'reason'), [
    ('-r bad', "remap rule: '-r bad'"), ('--foo', '--foo'), ('-p rate:', 'rate:'),
    ('--params-file none.yaml', 'none.yaml'), ('--params-file open.yaml', 'open.yaml'),
])  # fmt: skip
def test_bad_arguments_of_ros_are_named(
    line: str, arguments: str, reason: str, folder: Path, capfd: pytest.CaptureFixture[str],
) -> None:
    end = run(f'{line} {ROS} {arguments}', folder)
    assert end.returncode == 2, end.stderr
    name = line.split(' ')[0]
    printed = end.stderr + capfd.readouterr().err  # nodes log it, and rcl warns
    (sentence,) = (each for each in printed.splitlines() if '[rcl]' not in each)
    assert sentence.startswith(f'{name}: ') or '[FATAL] [' in sentence
    assert reason in sentence


@pytest.mark.parametrize('line', [
    f'preflight {MOTION} --picture', f'preflight {MOTION} --write', f'{CHECK} --picture',
    f'identify {MOTION} --write-urdf', f'identify {MOTION} --write-parameters',
    f'identify {MOTION} --report', f'identify {MOTION} --picture', f'replay {MOTION} --csv',
    f'replay {MOTION} --picture', f'{EXCITE} --out', 'teach motion --urdf arm.urdf --out',
    f'{TEACH} motion --picture',
])  # fmt: skip
def test_an_unwritable_file_is_rejected_first(line: str, folder: Path) -> None:
    for name in ('none/a', 'out/loop'):
        rejected(f'{line} {name}', f'{name} cannot be written', folder)


@pytest.mark.parametrize(('bag', 'reason'), [
    ('none.db3', 'none.db3 does not exist'), (LONG, 'does not exist'),
    (f'{LONG}.db3', 'does not exist'),
    ('motion_metadata_none', 'metadata.yaml is missing; name its file: motion_metadata_none/'),
    ('motion_metadata_void', 'metadata.yaml or motion.db3 is damaged'),
    ('motion_metadata_number', 'name its file: motion_metadata_number/motion.db3'),
    ('folder', 'the directory has no .db3 or .mcap file'),
    ('lost', 'the directory has no .db3 or .mcap file'),
    ('void.db3', 'the file is empty; record again'), ('text.mcap', 'it is not a .mcap file'),
    ('text.db3', 'text.db3'), ('folder.db3', 'folder.db3'),
    ('good.yaml', 'it is not a bag; name a directory'),
    ('mcap_cut_0.9.mcap', 'its end is missing, as the recorder was killed'),
    ('motion_cut_0.3.db3', 'it is damaged; recover it: sqlite3'),
    ('motion_cut_0.9.db3', 'it is damaged; recover it: sqlite3'),
    ('mcap_dirty_1.mcap', 'a broken message: that of 1000000001.180 s on /joint_states'),
    ('empty', 'no joint state'), ('without_effort', 'no effort'),
])
def test_the_sentence_about_a_bad_bag_has_a_way_out(bag: str, reason: str, folder: Path) -> None:
    line = rejected(f'preflight {bag} --urdf arm.urdf', reason, folder)
    assert 'object' not in line


@pytest.mark.parametrize(('bag', 'same'), [
    ('motion_metadata_none/motion.db3', 'motion'), ('mcap_alone.mcap', 'mcap'),
])
def test_the_file_of_a_bag_can_be_read_without_metadata(
    bag: str, same: str, folder: Path
) -> None:
    file, whole = (run(f'preflight {name} --urdf arm.urdf', folder) for name in (bag, same))
    assert (file.returncode, file.stdout) == (whole.returncode, whole.stdout)
    assert 'cannot be read' not in file.stderr


def test_a_bag_of_several_files_without_metadata_is_indexed_again(tmp_path: Path) -> None:
    for number in range(2):
        (tmp_path / f'part_{number}.mcap').write_bytes(b'\x89MCAP0\r\n')
    assert f'ros2 bag reindex -s mcap {tmp_path}' in bag_fault(tmp_path)


@pytest.mark.parametrize('field', ['position', 'velocity', 'effort'])
@pytest.mark.parametrize('number', ['far', 'infinite'])
@pytest.mark.parametrize('tool', ['preflight', 'identify', 'replay'])
def test_huge_numbers_leave_no_warning(tool: str, number: str, field: str, folder: Path) -> None:
    slow = ' -p rate:=100.0' if tool == 'replay' else ''
    line = f'{tool} {number}_{field}_few --urdf arm.urdf{slow}'
    assert fault(line, run(line, folder), folder) == ''


@pytest.mark.parametrize(('tool', 'missing'), [
    ('preflight', 'rosbags'), ('replay', 'rosbags'), ('identify', 'scipy'),
])
def test_a_missing_package_is_named(
    tool: str, missing: str, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in {missing, *(name for name in sys.modules if name.startswith(f'{missing}.'))}:
        monkeypatch.setitem(sys.modules, name, None)
    rejected(f'{tool} {MOTION}', f'pip install {missing}', folder)


def rejected(line: str, reason: str, folder: Path) -> str:
    """Return the sentence by which a command line is rejected."""
    end = run(line, folder)
    assert end.returncode == 2, end.stdout + end.stderr
    assert fault(line, end, folder) == ''
    assert reason in end.stderr
    return end.stderr
