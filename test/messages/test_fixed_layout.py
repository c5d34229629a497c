# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""Messages are read as rclpy reads them, and rejected where they lie, or for their size."""

from collections.abc import Callable, Sequence
import sys
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
import pytest

from rnea_ros.feedforward import Reason
from rnea_ros.feedforward.motion import (
    Column,
    TrajectoryError,
    TrajectoryRequest,
    compile_trajectory,
)
from rnea_ros.messages import (
    FixedLayoutReader,
    ImuSample,
    JointStateSample,
    MalformedError,
    WrenchSample,
    controller_state_reader,
    decode_trajectory,
)
from rnea_ros.messages.fixed_layout import MAX_LAYOUTS
from support.control.control_rig import free_rules
from support.control.encoded_trajectories import (
    HEADER,
    HUMBLE,
    JAZZY,
    MULTI,
    NAMES,
    TEXTS,
    Encoder,
)
from support.ros.ros_process import NO_ROS

ORDERS = ('<', '>')
STAMP = (1_700_000_000, 250_000_000)
Reader = FixedLayoutReader[Any]


def header(order: str, frame: str, stamp: tuple[int, int] = STAMP) -> Encoder:
    """Return an encoder that has written a std_msgs/Header."""
    encoder = Encoder(order)
    encoder.put('i', stamp[0])
    encoder.put('I', stamp[1])
    encoder.put_text(frame.encode() + b'\0')
    return encoder


def put_names(encoder: Encoder, names: Sequence[str]) -> None:
    encoder.put_length(len(names))
    for name in names:
        encoder.put_text(name.encode() + b'\0')


def put_numbers(encoder: Encoder, values: ArrayLike, width: int = 1) -> None:
    numbers = np.asarray(values, dtype=float)
    encoder.put_length(numbers.size // width)
    if numbers.size:
        encoder.put('d', *numbers)


def joint_state(
    names: tuple[str, ...], *columns: ArrayLike, order: str = '<', frame: str = '',
    stamp: tuple[int, int] = STAMP,
) -> bytes:
    encoder = header(order, frame, stamp)
    put_names(encoder, names)
    for column in columns:
        put_numbers(encoder, column)
    return bytes(encoder.data)


def assert_is(sample: JointStateSample, names: tuple[str, ...], *columns: ArrayLike) -> None:
    assert sample.names == names
    for array, column in zip(sample[1:], columns, strict=True):
        np.testing.assert_array_equal(array, np.asarray(column, dtype=float))
        assert array.flags.c_contiguous
        assert array.flags.aligned


@pytest.fixture
def read() -> Reader:
    return FixedLayoutReader(JointStateSample.read)


@pytest.mark.parametrize('other', [  # each as long as the first, where it can be
    joint_state(('a', 'c'), [1, 2], [3, 4], []), joint_state(('ab', ''), [1, 2], [3, 4], []),
    joint_state(('a', 'b'), [1, 2], [], [3, 4]), joint_state(('a', 'b'), [1, 2, 3], [4], []),
    joint_state(('a', 'b'), [1, 2], [3, 4], [], frame='xyz'),
    joint_state(('a', 'b'), [1, 2], [3, 4], [], order='>'), joint_state(('a',), [1], [2], [3]),
])
def test_layouts_are_remembered_and_numbers_and_stamp_are_those_of_the_newest_message(
    read: Reader, other: bytes
) -> None:
    alone, _ = FixedLayoutReader(JointStateSample.read)(other)
    names = set()
    for k in range(3):
        columns: tuple[ArrayLike, ...] = [k, 1], [2, np.nan], []
        sample, stamp = read(joint_state(('a', 'b'), *columns, stamp=(k, 500_000_000)))
        names.add(id(sample.names))
        assert_is(sample, ('a', 'b'), *columns)
        assert stamp == k + 0.5
        assert_is(read(other)[0], alone.names, *alone[1:])
    assert len(names) == 1  # unchanged names are the same object


def test_padding_between_texts_is_ignored(read: Reader) -> None:
    """DDS leaves there whatever was in its memory."""
    data = bytearray(joint_state(('a', 'b'), [1, 2], [], []))
    names = read(bytes(data))[0].names
    data[4 + 8 + 4 + 1 : 4 + 16] = b'xyz'
    sample, _ = read(bytes(data))
    assert_is(sample, ('a', 'b'), [1, 2], [], [])
    assert sample.names is names


def test_a_flood_of_layouts_fills_no_memory(read: Reader) -> None:
    for k in range(3 * MAX_LAYOUTS):
        assert_is(read(joint_state((f'{k:04}',), [k], [], []))[0], (f'{k:04}',), [k], [], [])
        assert len(read._layouts) <= MAX_LAYOUTS


KINDS: dict[str, Any] = {
    'JointState': JointStateSample, 'WrenchStamped': WrenchSample, 'Imu': ImuSample
}
IMU_PARTS = {'orientation': 'xyzw', 'angular_velocity': 'xyz', 'linear_acceleration': 'xyz'}


@pytest.mark.parametrize('name', KINDS)
def test_random_messages_are_read_as_rclpy_reads_them(name: str) -> None:
    pytest.importorskip('rclpy', reason=NO_ROS)
    from geometry_msgs.msg import WrenchStamped
    from rclpy.serialization import deserialize_message
    from sensor_msgs import msg

    read: Reader = FixedLayoutReader(KINDS[name].read)
    rng = np.random.default_rng(5)
    for number in range(500):
        frame, order = TEXTS[rng.integers(len(TEXTS))], ORDERS[number % 2]
        stamp = int(rng.integers(-(2**31), 2**31)), int(rng.integers(2**32))
        numbers = rng.normal(size=37)
        numbers[np.array((4, 16, 28))[rng.random(3) < 0.3]] = -1.0  # absent parts of an IMU
        encoder = header(order, frame, stamp)
        encoder.put('d', *numbers)  # more than a wrench has
        data = bytes(encoder.data)
        if name == 'JointState':
            names = tuple(TEXTS[k] for k in rng.integers(len(TEXTS), size=rng.integers(4)))
            columns = (rng.normal(size=rng.integers(4)) for _ in range(3))
            data = joint_state(names, *columns, order=order, frame=frame, stamp=stamp)
        sample, seconds = read(data)
        message: Any = deserialize_message(data, getattr(msg, name, WrenchStamped))
        assert seconds == message.header.stamp.sec + 1e-9 * message.header.stamp.nanosec
        if name == 'JointState':
            fields = message.position, message.velocity, message.effort
            assert_is(sample, tuple(message.name), *fields)
            continue
        assert sample.frame == message.header.frame_id
        if name == 'WrenchStamped':
            for part in ('force', 'torque'):
                vector = getattr(message.wrench, part)
                assert getattr(sample, part).tolist() == [vector.x, vector.y, vector.z]
            continue
        assert sample.present() == [
            None if getattr(message, f'{part}_covariance')[0] == -1.0
            else [getattr(getattr(message, part), axis) for axis in axes]
            for part, axes in IMU_PARTS.items()
        ]


# The reference of a JointTrajectoryControllerState, as every ROS distribution sends it


def controller_state(
    fields: dict[str, str], names: Sequence[str], reference: Sequence[Sequence[float]],
    speed: float, order: str = '<', multi_dof: int = 0,
) -> bytes:
    """Return a message whose other points have numbers of their own."""
    encoder = header(order, 'base')
    for number, (name, kind) in enumerate(fields.items()):
        if kind == NAMES:
            put_names(encoder, names if name == 'joint_names' else ['virtual'] * multi_dof)
        elif kind == 'double':
            encoder.put('d', speed)
        elif kind != HEADER:
            for part, width in enumerate((7, 6, 6) if kind == MULTI else (1,) * 4):
                count = multi_dof if kind == MULTI else len(names)
                others = np.full(width * count, 100.0 + number)
                put_numbers(encoder, reference[part] if name == 'reference' else others, width)
            encoder.put('I', 3, 4)
    return bytes(encoder.data)


@pytest.mark.parametrize('fields', [JAZZY, HUMBLE], ids=['jazzy', 'humble'])
@pytest.mark.parametrize('order', ORDERS)
@pytest.mark.parametrize('multi_dof', [0, 2])
def test_the_reference_and_the_factor_are_those_of_the_newest_controller_state(
    fields: dict[str, str], order: str, multi_dof: int
) -> None:
    read: Reader = FixedLayoutReader(controller_state_reader(fields))
    names = ('arm', 'elbow', 'wrist3')
    seen = set()
    for k in range(4):
        columns = [[k, 1.0, 2.0], [3.0, k, 5.0], [6.0, 7.0, k] if k % 2 else [], []]
        sample, stamp = read(controller_state(fields, names, columns, 0.1 * k, order, multi_dof))
        assert stamp == STAMP[0] + 0.25
        assert sample.names == names
        for values, column in zip(sample[1:4], columns, strict=False):
            assert values.tolist() == column
        assert sample.speed.tolist() == ([0.1 * k] if fields is JAZZY else [])
        seen.add(id(sample.names))
    # In the machine's byte order only the first message of a layout is taken apart.
    assert len(seen) == 2 or order != ('<' if sys.byteorder == 'little' else '>')


WRENCH = header('<', 'wrist')
WRENCH.put('d', 1.0, 2.0, 3.0, 4.0, 5.0, 6.0)
STATE = joint_state(('a', 'bcd'), [1, 2], [3, 4], [5, 6])
JAZZY_STATE, HUMBLE_STATE = (
    controller_state(fields, ('a', 'b'), [[1.0, 2.0]] * 4, 0.5) for fields in (JAZZY, HUMBLE)
)
READ = 4 + HUMBLE_STATE.index(np.float64(103.0).tobytes()) - 12  # to the end of the reference


@pytest.mark.parametrize(('kind', 'data'), [
    (JointStateSample.read, STATE), (WrenchSample.read, bytes(WRENCH.data)),
    (controller_state_reader(JAZZY), JAZZY_STATE),
    (controller_state_reader(HUMBLE), HUMBLE_STATE[:READ]),
])
def test_a_message_that_is_cut_at_any_byte_is_rejected(kind: Any, data: bytes) -> None:
    known: Reader = FixedLayoutReader(kind)
    known(data)
    for size in range(len(data)):
        for reader in (known, FixedLayoutReader[Any](kind)):
            with pytest.raises(MalformedError):
                reader(data[:size])
    known(data)


def message(frame: bytes, *names: bytes) -> bytes:
    """Return a header, names and zeros: a message of every type with names."""
    encoder = header('<', frame.decode(), (0, 0))
    put_names(encoder, [name.decode() for name in names])
    return bytes(encoder.data) + bytes(400)


@pytest.mark.parametrize(('decode', 'bound', 'has_names'), [
    (FixedLayoutReader(JointStateSample.read), 65_536, True),
    (FixedLayoutReader(WrenchSample.read), 65_536, False),
    (FixedLayoutReader(ImuSample.read), 65_536, False),
    (FixedLayoutReader(controller_state_reader(HUMBLE)), 65_536, True),
    (decode_trajectory, 20_000_000, True),
], ids=['joint states', 'wrench', 'imu', 'controller state', 'trajectory'])
def test_a_message_above_its_bounds_is_rejected_before_it_is_read(
    decode: Callable[[bytes], Any], bound: int, has_names: bool
) -> None:
    longest, many = b'x' * 255, 256 * [b'x' * 226]
    cases = [
        (message(b'', b'').ljust(bound, b'\0'), bytes(bound + 1),  # without a valid header
         f'too_large: byte 0: {bound + 1} bytes of the message, at most {bound} are read'),
        (message(longest), message(longest + b'x'), '257 bytes of frame, at most'),
    ]
    if has_names:
        cases += [
            (message(b'', longest), message(b'', b'x' * 60_000),
             '60001 bytes of name of joint 0, at most 256 are read'),
            (message(b'', *many), message(b'', *[b'x'] * 257),
             '257 joints, at most 256 are read'),
        ]
    for accepted, rejected, words in cases:
        decode(accepted)
        with pytest.raises(MalformedError, match=words) as caught:
            decode(rejected)
        assert caught.value.reason is Reason.TOO_LARGE
        assert len(str(caught.value)) < 200


def test_a_trajectory_of_too_many_points_says_how_many_are_accepted() -> None:
    start: dict[str, Any] = {'now': 0.0, 'position': np.zeros(2), 'velocity': np.zeros(2)}
    rules = free_rules(('a', 'b'))

    def request(points: int) -> TrajectoryRequest:
        none = Column(np.empty(0), np.zeros(points, dtype=np.int64))
        positions = Column(np.zeros(2 * points), np.full(points, 2))
        return TrajectoryRequest(('a', 'b'), np.zeros(points), positions, none, none, none)

    with pytest.raises(TrajectoryError) as caught:
        compile_trajectory(request(250_001), rules, **start)
    assert '250001 points of 2 joints, at most 250000: send fewer points' in str(caught.value)
    with pytest.raises(TrajectoryError, match=r'^times_not_increasing'):  # checked next
        compile_trajectory(request(250_000), rules, **start)
