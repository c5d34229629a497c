# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""Decoding of trajectories: as by rclpy, and rejections of malformed bytes."""

from array import array
import struct
import tracemalloc
from typing import Any

import numpy as np
import pytest

from rnea_ros.compilation import COMPILED
from rnea_ros.errors import RequestRejectedError
from rnea_ros.feedforward.motion import TrajectoryRequest
from rnea_ros.messages import MalformedError, decode_trajectory, trajectory, trajectory_request
from support.control.encoded_trajectories import (
    Encoder,
    Message,
    Point,
    encoded,
    encoder_of,
    random_message,
)
from support.python_process import run
from support.ros.ros_process import NO_ROS

ORDERS = ('<', '>')
FIELDS = ('positions', 'velocities', 'accelerations', 'efforts')

EXAMPLE = Message(['elbow', 'wrist'], [
    Point(([1.0, 2.0], [3.0, 4.0], [], [5.0, 6.0]), (1, 500_000_000)),
    Point(([7.0, 8.0], [0.5], [9.0, 10.0], []), (2, 0)),
], (10, 250_000_000), 'base')


def seconds(when: tuple[int, int]) -> float:
    return when[0] + 1e-9 * when[1]


def assert_same(request: TrajectoryRequest, message: Message) -> None:
    assert request.joint_names == tuple(message.names)
    assert request.start_time == (seconds(message.stamp) or None)
    assert request.header == (*message.stamp, message.frame)
    assert request.times.tolist() == [seconds(point.time) for point in message.points]
    for index, field in enumerate(FIELDS):
        column = getattr(request, field)
        rows = [point.fields[index] for point in message.points]
        assert column.counts.tolist() == [len(row) for row in rows]
        # Bit for bit, so that NaN equals itself and -0.0 is not 0.0
        assert column.values.tobytes() == b''.join(array('d', row).tobytes() for row in rows)


def rejection(data: bytes) -> MalformedError:
    with pytest.raises(MalformedError) as caught:
        decode_trajectory(data)
    return caught.value


@pytest.mark.parametrize('order', ORDERS)
def test_messages_of_every_shape_are_read_as_they_were_written(order: str) -> None:
    rng = np.random.default_rng(1)
    for _ in range(250 if COMPILED else 100):
        message = random_message(rng)
        assert_same(decode_trajectory(encoded(message, order)), message)


# The same as rclpy


def by_rclpy(data: bytes) -> Any:
    from rclpy.serialization import deserialize_message
    from trajectory_msgs.msg import JointTrajectory

    return deserialize_message(data, JointTrajectory)


def fields_of(message: Any) -> Message:
    points = [
        Point((p.positions, p.velocities, p.accelerations, p.effort),
              (p.time_from_start.sec, p.time_from_start.nanosec))
        for p in message.points
    ]
    header = message.header
    stamp = header.stamp.sec, header.stamp.nanosec
    return Message(list(message.joint_names), points, stamp, header.frame_id)


def test_random_and_damaged_messages_are_read_as_rclpy_reads_them() -> None:
    pytest.importorskip('rclpy', reason=NO_ROS)
    rng = np.random.default_rng(4)
    taken = 0
    for number in range(1500):
        data = bytearray(encoded(random_message(rng), ORDERS[number % 2]))
        damaged = number % 3
        if damaged:
            data[rng.integers(4, len(data))] = rng.integers(256)
        try:
            request = decode_trajectory(bytes(data))
        except MalformedError:
            assert damaged
            continue
        message = by_rclpy(bytes(data))
        assert_same(request, fields_of(message))
        assert_same(trajectory_request(message), fields_of(message))
        taken += bool(damaged)
    assert taken > 400


@pytest.mark.parametrize(('longest', 'too_long'), [
    (Message(['a', 'ä' * 127]), Message(['a', 'ä' * 128])),
    (Message(frame='b' * 255), Message(frame='b' * 256)),
    (Message(['a'] * 256), Message(['a'] * 257)),
])
def test_a_goals_names_have_the_bounds_of_a_message(longest: Message, too_long: Message) -> None:
    pytest.importorskip('rclpy', reason=NO_ROS)
    assert_same(trajectory_request(by_rclpy(encoded(longest))), longest)
    data = encoded(too_long)
    with pytest.raises(RequestRejectedError) as caught:
        trajectory_request(by_rclpy(data))
    assert caught.value.word == rejection(data).word == 'too_large'
    assert str(caught.value).rpartition(': ')[2] == str(rejection(data)).rpartition(': ')[2]


# Rejections


@pytest.mark.parametrize('order', ORDERS)
def test_a_message_that_is_cut_at_any_byte_is_rejected(order: str) -> None:
    data = encoded(EXAMPLE, order)
    for more in (0, 1, 7, 40):  # bytes after the last point are ignored
        assert_same(decode_trajectory(data + b'\xa5' * more), EXAMPLE)
    for size in range(len(data)):
        assert rejection(data[:size]).offset < size + 8
    empty = named(b'', b'\0', b'elbow\0')  # a string of length 0 is empty
    assert decode_trajectory(empty).joint_names == ('', '', 'elbow')


@pytest.mark.parametrize('order', ORDERS)
@pytest.mark.parametrize('length', [0xFFFFFFFF, 0x20000000, 10**6])
def test_a_false_length_is_rejected_and_nothing_allocated_for_it(order: str, length: int) -> None:
    encoder = encoder_of(EXAMPLE, order)
    assert len(encoder.lengths) == 5 + 4 * 2
    decode_trajectory(bytes(encoder.data))
    for offset in encoder.lengths:
        data = encoder.data.copy()
        struct.pack_into(f'{order}I', data, offset, length)
        tracemalloc.start()
        rejection(bytes(data))
        _, peak = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        assert peak < 200_000


def named(*names: bytes) -> bytes:
    """Return a message with names of these bytes, and no points."""
    encoder = Encoder('<')
    encoder.put('I', 0, 0)
    encoder.put_text(b'base\0')
    encoder.put_length(len(names))
    for name in names:
        encoder.put_text(name)
    encoder.put_length(0)
    return bytes(encoder.data)


WHOLE = encoded(EXAMPLE)
SIZE = len(WHOLE)


@pytest.mark.parametrize(('data', 'offset', 'detail'), [
    *((header, 0, f'header {header.hex()}') for header in (b'', b'\0\1\0')),
    *((header + WHOLE[4:], 0, f'header {header.hex()}')
      for header in (b'\1\0\0\0', b'\0\2\0\0')),
    *((named(b'wrist\0', name), 44,
       f'name of joint 1: {name!r}, but a string is UTF-8 with one zero, at its end')
      for name in (b'elbow', b'el\0bow\0', b'\0\0', b'elb\xffow\0', b'\xed\xa0\x80\0')),
    *((WHOLE[:size], at, f'{what} bytes expected, {left} left') for size, at, what, left in (
        (4, 4, 'stamp: 4', 0), (18, 16, 'frame: 5', 2), (36, 32, 'name of joint 0: 6', 4),
        (64, 56, '2 points: 48', 8), (130, 124, 'time of point 0: 8', 6),
        (SIZE - 10, SIZE - 12, 'number of efforts of point 1: 4', 2),
        (SIZE - 13, SIZE - 28, 'accelerations of point 1: 16', 15),
    )),
])
def test_a_rejection_says_where_what_was_expected(data: bytes, offset: int, detail: str) -> None:
    error = rejection(data)
    assert (error.word, error.offset) == ('malformed', offset)
    assert str(error).startswith(f'malformed: byte {offset}: {detail}')


# Beside the control loop


@pytest.mark.skipif(not COMPILED, reason='numba is missing or switched off')
def test_loading_compiles_all_that_any_message_needs_and_kernels_block_no_thread() -> None:
    messages = [encoded(message, order) for message in (EXAMPLE, Message()) for order in ORDERS]
    code = f"""
from rnea_ros.messages import trajectory as decoder
kernels = decoder._find_points, decoder._copy_values
decoder.load_decoder()
print([len(kernel.signatures) for kernel in kernels])
for data in {messages!r}:
    decoder.decode_trajectory(data)
print([len(kernel.signatures) for kernel in kernels])
"""
    assert run(code) == '[1, 1]\n[1, 1]\n'
    kernels: Any = (trajectory._find_points, trajectory._copy_values)
    assert all(kernel.targetoptions['nogil'] for kernel in kernels)


@pytest.mark.skipif(not COMPILED, reason='this is the run in plain Python')
def test_all_of_this_holds_in_plain_python() -> None:
    arguments = [__file__, '-q', '-p', 'no:cacheprovider', '-k', 'written or cut']
    code = f'import pytest; assert pytest.main({arguments!r}) == 0'
    assert ' passed' in run(code, RNEA_ROS_PURE_PYTHON='1')
