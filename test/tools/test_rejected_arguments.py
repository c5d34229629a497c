# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""Arguments and files that no tool can work with: one sentence, exit code 2, no warning."""

from pathlib import Path
from random import Random
import sys

import pytest

from rnea_ros.recordings.bags import bag_fault
from support.fuzz.command_lines import command_line, fault, prepare, run
from support.fuzz.hostile_files import LONG, write_files, write_random_files
from support.ros.ros_process import NO_ROS

for package in ('rclpy', 'rosbags', 'scipy', 'matplotlib', 'yaml'):
    pytest.importorskip(package, reason=NO_ROS if package == 'rclpy' else 'not installed')

PREFLIGHT = 'preflight motion --urdf arm.urdf'
IDENTIFY = 'identify motion --urdf arm.urdf'
REPLAY = 'replay motion --urdf arm.urdf'
CHECK = 'check_trajectory good.yaml --urdf arm.urdf'
EXCITE = 'excite --urdf arm.urdf'
TEACH = 'teach --urdf arm.urdf --out out/a'
PLAY = 'teach --urdf arm.urdf --play good.yaml'
EXPORT = 'export --urdf arm.urdf --out out/c'

UNWRITABLE = tuple((name, f'{name} cannot be written') for name in ('none/a', 'out/loop'))
REJECTED = {
    'preflight': (
        ('motion', 'needs --urdf'), ('motion --urdf none.urdf', 'none.urdf'),
        ('--dry-run', 'needs a recording'), ('empty --urdf arm.urdf --dry-run', 'no joint states'),
        ('forged --urdf arm.urdf', r'(a\nfine: nothing wrong, b\x1b[2J)'),
    ),
    PREFLIGHT: (
        ('--poses 7', '7 is less than 8'), ('--duration nan', 'nan is not positive and finite'),
        ('--effort-scale 0', '0 has no size'), ('--effort-scale 9e-7', 'between 1e-6 and 1e6'),
        ('--effort-scale 1 2 3', '3 factors for 2 joints'), ('--joints a', 'not MODEL=RECORDED'),
        ('--joints wrist=elbow', "'wrist'"), ('--joints elbow=wrist', "'wrist' is not recorded"),
        ('--gravity 0 0 0', '--gravity is zero'), ('--gravity 0 0 1.01e4', 'is not a gravity'),
        ('--friction parameters.yaml --write out/a', 'leave out --friction'),
        ('--write arm.urdf', '--write would replace arm.urdf of --urdf; name another file'),
        ('--topic /a', 'no joint states on /a; topics with joint states: /joint_states'),
    ),
    'identify': (
        ('motion', 'needs --urdf'), ('motion --urdf massless.urdf', 'no moving link has a mass'),
        ('motion --urdf heavy.urdf', 'too large'), ('motion --urdf broken.urdf', 'URDF'),
        ('--dry-run', 'needs a recording'),
        ('mo\ntion --urdf arm.urdf', r"'mo\ntion' is too long or has control"),
    ),
    IDENTIFY: (
        ('--write-urdf arm.urdf', 'name another file'), ('--cutoff 1e-9', 'not at least 0.1 Hz'),
        ('--write-urdf a --write-parameters ./a', 'would replace a of --write-urdf'),
        ('--table rate=1', 'motion is not a table'), ('--table rates=1', 'not KEY=VALUE; keys: '),
        ('--payload lower --links lower', 'no --links'), ('--links base', "moving link 'base'"),
        ('--payload lower --validate poses', 'no --validate'), ('--prior-weight 1e300', '1000'),
        ('--payload hand', "unknown link 'hand'; known are base, upper, lower"),
        ('--prior-weight 1e-300', 'between 1e-09'), ('--keep-friction deep.yaml', 'deeper than'),
    ),
    'replay': (
        ('motion', '--urdf'), (f'motion --urdf {LONG}', 'File name too long'),
        ('other --urdf arm.urdf', 'no recorded joint'), ('empty --urdf arm.urdf', 'no joint st'),
        ('single --urdf arm.urdf', '2 are needed'), ('without_effort --urdf arm.urdf', 'no effo'),
    ),
    REPLAY: (
        ('--csv a --picture a', '--csv would replace a of --picture; name another file'),
        ('-p rate', 'rate is not NAME:=VALUE'), ('-p rate:=[1', 'usable YAML'),
        ('-p rate:=500', 'rate: 500 is not of type float'), ('-p mode:=dance', "'dance'"),
        ('-p speed:=1.0', 'speed: no such parameter'), ('--params-file none.yaml', 'none.yaml'),
        ('--params-file unknown.yaml', 'no_such_parameter'),
    ),
    'check_trajectory': (('good.yaml', '--urdf'), ('--urdf arm.urdf', 'name a file, or --topic')),
    'check_trajectory --urdf arm.urdf': tuple(
        (f'{name}.yaml', f'{name}.yaml{fault}') for name, fault in (
            ('pipe', ' is a pipe or device: save'), ('date', ", line 5 is not usable YAML: '2001"),
            ('twice', ", line 6 is not usable YAML: 'joint_names' is given twice"),
            ('bomb', ', line 6 is not usable YAML: it has over'), ('digits', ', line 5 is not us'),
        )
    ),
    CHECK: (
        ('--index -1', '-1 is negative'), ('--start 1', '1 is not JOINT=POSITION'),
        ('--start elbow=b', "'b' is not a number"), ('--effort-limits elbow=inf', 'not finite'),
        ('--effort-limits wrist=1', "joint 'wrist'"), ('--effort-limits 0', '0 is not above 0'),
        ('--payload hand 1 0 0 0', "'hand'"), ('--payload lower x 0 0 0', "'x'"),
        ('--gravity nan 0 0', 'nan m/s^2 is not a gravity'), ('--rate 0', 'rate: 0 Hz'),
    ),
    EXCITE: (
        ('', '--out'), ('--out out/a --yes', 'need --publish'), ('--publish', 'see --yes'),
        ('--motion good.yaml', 'need --publish'),
        ('--motion good.yaml --publish --start elbow=0', '--motion takes no --start'),
        ('--motion good.yaml --publish --after motion', '--after is for a new motion'),
        ('--publish --yes --record motion', '--record: motion exists already'),
        ('--out out/a --floor 0 --box -1 1 -1 1 -1 1', 'not both'),
        ('--out out/a --keep-inside lower', '--keep-inside needs --floor or --box'),
        ('--out out/a --speed 1.001', 'is above 1'), ('--out out/a --speed 9e-4', 'below 0.001'),
        ('--out out/a --omit thumb', "'thumb'"), ('--out out/a --duration 1e300', '86400 s'),
        ('--out out/a --floor 0.5', 'link lower: its origin is at z = 0 m at the start'),
    ),
    'teach': (('--urdf arm.urdf', '--out to teach'), ('motion --out out/a', 'needs --urdf')),
    PLAY: (
        ('--out out/a', 'give --out to teach a motion, or --play'), ('', 'see --yes'),
        ('motion --yes', '--play takes no BAG'), ('--yes --repeat 0', '--repeat 0 is not above 0'),
    ),
    TEACH: (
        ('motion --picture out/a', '--picture would replace out/a of --out'),
        ('', 'there is no terminal for keys; see --seconds'), ('--seconds 1 --yes', 'need --play'),
        ('--waypoints --seconds 1', '--waypoints takes no'), ('--waypoints', 'no terminal'),
        ('--seconds 1 --to a', 'need --play'), ('motion --seconds 1', 'takes no --seconds'),
        ('motion --omit shoulder elbow', 'no joint is left'),
    ),
    EXPORT: (
        ('--prefix my-arm', 'not a name in C'), ('--frame elbow', "'elbow'"),
        ('--prefix \x9b', r"'\x9b' is too long or has control"),
    ),
    'export --urdf arm.urdf': (('', '--out'), ('--out good.yaml', 'good.yaml')),
    'play_joint_states': (
        ('motion --speed 9e-4', 'between 0.001'), ('motion --speed 1001', 'and 1000'),
        ('motion --wait nan', '--wait is not a number'), ('empty', 'empty has no joint state'),
    ),
    'panel': (
        ('--port 0', 'not between 1'), ('--port a', "'a'"), ('--node', 'expected at least one'),
        ('--host none.invalid', '--host none.invalid: '),
    ),
    'demo': (
        ('--robot r2d2', "'r2d2'"), ('--rate 49.9', 'between 50'), ('--seconds 601', '600 s'),
        ('--rate 300', 'multiple of'), ('--identify --perfect-model', '--perfect-model'),
        ('--teleoperation --identify', '--teleoperation'), ('--output good.yaml/a', 'good.yaml'),
        ('--teleoperation --rate 250', 'no other --rate'), ('--ros-args -r bad', '--ros-args'),
    ),
    # A missing file, a damaged bag and a path that cannot be written have a way out.
    'preflight --urdf arm.urdf': (
        ('none.db3', 'none.db3 does not exist'), (LONG, 'does not exist'),
        ('motion_metadata_none', 'is missing; name its file: motion_metadata_none/'),
        ('motion_metadata_void', 'metadata.yaml or motion.db3 is damaged'),
        ('folder', 'the directory has no .db3 or .mcap file'), ('folder.db3', 'folder.db3'),
        ('lost', 'lost/motion.db3 is a pipe or device; name'), ('text.db3', 'text.db3'),
        ('bomb_message', 'too large once unpacked; record it again without compression'),
        ('metadata_deep', 'metadata.yaml, line 1 is not usable YAML: it is nested deeper than 50 '
         'levels; correct it, or name a file beside it'),
        ('metadata_long', 'has over 500000 bytes; shorten it, or name a file beside it'),
        ('bomb_file', 'too large once unpacked'), ('bomb_large', 'too large once'),
        ('bomb_chunk.mcap', 'too large once unpacked'),
        ('pipe.mcap', 'pipe.mcap is a pipe'), ('/dev/zero', '/dev/zero is a pipe or device'),
        ('void.db3', 'the file is empty; record again'), ('text.mcap', 'it is not a .mcap file'),
        ('good.yaml', 'it is not a bag; name a directory'),
        ('mcap_cut_0.9.mcap', 'its end is missing, as the recorder was killed'),
        ('motion_cut_0.3.db3', 'it is damaged; recover it: sqlite3'),
        ('mcap_dirty_1.mcap', 'the message received at 1000000001.180 s on /joint_states'),
    ),
    **dict.fromkeys((
        f'{PREFLIGHT} --picture', f'{PREFLIGHT} --write', f'{CHECK} --picture',
        f'{IDENTIFY} --write-urdf', f'{IDENTIFY} --write-parameters', f'{IDENTIFY} --report',
        f'{IDENTIFY} --picture', f'{REPLAY} --csv', f'{REPLAY} --picture', f'{EXCITE} --out',
        'teach motion --urdf arm.urdf --out', f'{TEACH} motion --picture',
    ), UNWRITABLE),
}  # fmt: skip
"""Arguments, and the reason of their rejection, by what stands before them."""


@pytest.fixture(scope='module')
def files(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[str]]:
    """Return a folder, and the names of files in it."""
    path = tmp_path_factory.mktemp('files')
    names = write_files(path)
    prepare(path)
    return path, names


@pytest.fixture
def folder(files: tuple[Path, list[str]]) -> Path:
    return files[0]


def test_random_command_lines_end_with_a_result_or_one_sentence(
    files: tuple[Path, list[str]]
) -> None:
    folder, names = files
    for seed in range(40):  # many more: support.fuzz.tool_runs
        random = Random(seed)
        line = command_line(random, [*names, *4 * write_random_files(random, folder)])
        assert fault(line, run(line, folder), folder) == '', (seed, line)


@pytest.mark.parametrize(('line', 'reason'), [
    (' '.join(filter(None, (start, more))), reason)
    for start, rows in REJECTED.items() for more, reason in rows
])
def test_bad_arguments_are_named(line: str, reason: str, folder: Path) -> None:
    rejected(line, reason, folder)


@pytest.mark.parametrize('line', [
    'preflight', 'identify', 'play_joint_states motion', 'activate_controller a',
    'check_trajectory --topic t --urdf arm.urdf', f'{EXCITE} --publish --yes',
    f'{TEACH} --seconds 1', f'{PLAY} --yes', 'feedforward_node', 'simulated_robot',
    'effort_watchdog', 'trajectory_effort', 'teleoperation',
])
@pytest.mark.parametrize(('arguments', 'reason'), [
    ('-r bad', "remap rule: '-r bad'"), ('--params-file none.yaml', 'none.yaml'),
])  # fmt: skip
def test_bad_arguments_of_ros_are_named(
    line: str, arguments: str, reason: str, folder: Path, capfd: pytest.CaptureFixture[str],
) -> None:
    end = run(f'{line} --ros-args {arguments}', folder)
    assert end.returncode == 2, end.stderr
    name = line.split(' ')[0]
    printed = end.stderr + capfd.readouterr().err  # nodes log it, and rcl warns
    (sentence,) = (each for each in printed.splitlines() if '[rcl]' not in each)
    assert sentence.startswith(f'{name}: ') or '[FATAL] [' in sentence
    assert reason in sentence


def test_the_file_of_a_bag_is_read_without_metadata(folder: Path) -> None:
    bags = ('motion_metadata_none/motion.db3', 'motion')
    file, whole = (run(f'preflight {name} --urdf arm.urdf', folder) for name in bags)
    assert (file.returncode, file.stdout) == (whole.returncode, whole.stdout)
    assert 'cannot be read' not in file.stderr


def test_a_bag_of_several_files_without_metadata_is_indexed_again(tmp_path: Path) -> None:
    for number in range(2):
        (tmp_path / f'part_{number}.mcap').write_bytes(b'\x89MCAP0\r\n')
    assert f'ros2 bag reindex -s mcap {tmp_path}' in bag_fault(tmp_path)
    (tmp_path / 'packed').mkdir()
    (tmp_path / 'packed/a_0.db3.zstd').touch()
    reason = f'metadata.yaml is missing; unpack its files: zstd -d {tmp_path}/packed/*.zstd'
    assert bag_fault(tmp_path / 'packed') == reason


@pytest.mark.parametrize('bag', ['far_position_few', 'far_effort_few', 'infinite_velocity_few'])
@pytest.mark.parametrize('tool', ['preflight', 'identify', 'replay'])
def test_huge_numbers_leave_no_warning(tool: str, bag: str, folder: Path) -> None:
    line = f'{tool} {bag} --urdf arm.urdf' + ' -p rate:=100.0' * (tool == 'replay')
    assert fault(line, run(line, folder), folder) == ''


@pytest.mark.parametrize(('line', 'missing'), [
    (PREFLIGHT, 'rosbags'), (REPLAY, 'rosbags'), (IDENTIFY, 'scipy'),
    (f'{EXCITE} --out out/a', 'scipy'),
])
def test_a_missing_package_is_named(
    line: str, missing: str, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in {missing, *(name for name in sys.modules if name.startswith(f'{missing}.'))}:
        monkeypatch.setitem(sys.modules, name, None)
    rejected(line, f'pip install {missing}', folder)


def rejected(line: str, reason: str, folder: Path) -> None:
    """Compare the sentence by which a command line is rejected."""
    end = run(line, folder)
    assert end.returncode == 2, end.stdout + end.stderr
    assert fault(line, end, folder) == ''
    assert reason in end.stderr
