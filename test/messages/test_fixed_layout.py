# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""Messages that come again and again are read as rclpy reads them, and rejected where they lie."""

from collections.abc import Callable
from importlib import import_module
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st
import numpy as np
from numpy.typing import ArrayLike
import pytest

from rnea_ros.messages import (
    FixedLayoutReader,
    ImuSample,
    JointStateSample,
    MalformedError,
    WrenchSample,
)
from rnea_ros.messages.fixed_layout import MAX_LAYOUTS
from support.control.encoded_trajectories import TEXTS, Encoder
from support.ros.ros_process import NO_ROS

ORDERS = ('<', '>')
STAMP = (1_700_000_000, 250_000_000)


def header(order: str, frame: str, stamp: tuple[int, int] = STAMP) -> Encoder:
    """Return an encoder that has written a std_msgs/Header."""
    encoder = Encoder(order)
    encoder.put('i', stamp[0])
    encoder.put('I', stamp[1])
    encoder.put_text(frame.encode() + b'\0')
    return encoder


def joint_state(
    names: tuple[str, ...], *columns: ArrayLike, order: str = '<', frame: str = '',
    stamp: tuple[int, int] = STAMP,
) -> bytes:
    encoder = header(order, frame, stamp)
    encoder.put_length(len(names))
    for name in names:
        encoder.put_text(name.encode() + b'\0')
    for column in columns:
        values = np.asarray(column, dtype=float)
        encoder.put_length(values.size)
        if values.size:
            encoder.put('d', *values)
    return bytes(encoder.data)


def wrench(numbers: ArrayLike, order: str = '<', frame: str = 'wrist') -> bytes:
    encoder = header(order, frame)
    encoder.put('d', *np.asarray(numbers, dtype=float))
    return bytes(encoder.data)


def assert_is(sample: JointStateSample, names: tuple[str, ...], *columns: ArrayLike) -> None:
    assert sample.names == names
    for array, column in zip(sample[1:], columns, strict=True):
        np.testing.assert_array_equal(array, np.asarray(column, dtype=float))
        assert array.flags.c_contiguous
        assert array.flags.aligned


@pytest.fixture
def read() -> FixedLayoutReader[JointStateSample]:
    return FixedLayoutReader(JointStateSample.read)


@pytest.mark.parametrize('order', ORDERS)
def test_the_numbers_and_the_stamp_are_those_of_the_newest_message(
    read: FixedLayoutReader[JointStateSample], order: str
) -> None:
    for k in range(5):
        columns = ([k, 0.5], [-k, 1.5], [np.nan, k])
        data = joint_state(('a', 'bcd'), *columns, order=order, stamp=(k, 500_000_000))
        sample, stamp = read(data)
        assert_is(sample, ('a', 'bcd'), *columns)
        assert stamp == k + 0.5


def test_unchanged_names_are_the_same_object(read: FixedLayoutReader[JointStateSample]) -> None:
    first = read(joint_state(('a', 'b'), [1, 2], [], []))[0].names
    assert read(joint_state(('a', 'b'), [3, 4], [], []))[0].names is first


# Each as long as the first, where it can be.
OTHERS = [
    joint_state(('a', 'c'), [1, 2], [3, 4], []), joint_state(('ab', ''), [1, 2], [3, 4], []),
    joint_state(('a', 'b'), [1, 2], [], [3, 4]), joint_state(('a', 'b'), [], [1, 2], [3, 4]),
    joint_state(('a', 'b'), [1, 2, 3], [4], []),
    joint_state(('a', 'b'), [1, 2], [3, 4], [], frame='xyz'),
    joint_state(('a', 'b'), [1, 2], [3, 4], [], order='>'), joint_state(('a',), [1], [2], [3]),
]


@pytest.mark.parametrize('other', OTHERS)
def test_layouts_are_remembered(read: FixedLayoutReader[JointStateSample], other: bytes) -> None:
    alone, _ = FixedLayoutReader(JointStateSample.read)(other)
    for k in range(3):
        sample, _ = read(joint_state(('a', 'b'), [k, 1], [2, 3], []))
        assert_is(sample, ('a', 'b'), [k, 1], [2, 3], [])
        sample, _ = read(other)
        assert_is(sample, alone.names, *alone[1:])


def test_padding_between_texts_is_ignored(read: FixedLayoutReader[JointStateSample]) -> None:
    """DDS leaves there whatever was in its memory."""
    data = bytearray(joint_state(('a', 'b'), [1, 2], [], []))
    names = read(bytes(data))[0].names
    frame_padding = slice(4 + 8 + 4 + 1, 4 + 16)
    data[frame_padding] = b'xyz'
    sample, _ = read(bytes(data))
    assert_is(sample, ('a', 'b'), [1, 2], [], [])
    assert sample.names is names


def test_a_flood_of_layouts_fills_no_memory(read: FixedLayoutReader[JointStateSample]) -> None:
    for k in range(3 * MAX_LAYOUTS):
        sample, _ = read(joint_state((f'joint_{k:04}',), [k], [], []))
        assert_is(sample, (f'joint_{k:04}',), [k], [], [])
        assert len(read._layouts) <= MAX_LAYOUTS


@pytest.mark.parametrize('order', ORDERS)
def test_a_wrench_is_its_force_and_then_its_torque(order: str) -> None:
    read = FixedLayoutReader(WrenchSample.read)
    for k in range(3):
        sample, _ = read(wrench([k, 2, 3, 4, 5, 6], order))
        assert sample.frame == 'wrist'
        assert sample.force.tolist() == [k, 2, 3]
        assert sample.torque.tolist() == [4, 5, 6]


def test_a_part_of_an_imu_is_absent_where_its_covariance_says_so() -> None:
    read = FixedLayoutReader(ImuSample.read)
    for absent in range(3):
        numbers = np.arange(37.0)
        numbers[(4, 16, 28)[absent]] = -1.0
        encoder = header('<', 'imu')
        encoder.put('d', *numbers)
        sample, _ = read(bytes(encoder.data))
        parts: list[list[float] | None] = [[0, 1, 2, 3], [13, 14, 15], [25, 26, 27]]
        parts[absent] = None
        assert sample.present() == parts
        assert sample.frame == 'imu'


@pytest.mark.parametrize('order', ORDERS)
def test_a_message_that_is_cut_at_any_byte_is_rejected(order: str) -> None:
    whole = {
        JointStateSample.read: joint_state(('a', 'bcd'), [1, 2], [3, 4], [5, 6], order=order),
        WrenchSample.read: wrench([1, 2, 3, 4, 5, 6], order),
    }
    for kind, data in whole.items():
        read: FixedLayoutReader[Any] = FixedLayoutReader(kind)
        read(data)  # known or not
        for size in range(len(data)):
            with pytest.raises(MalformedError):
                read(data[:size])
            with pytest.raises(MalformedError):
                FixedLayoutReader(kind)(data[:size])
        read(data)


@settings(max_examples=300)
@given(header=st.sampled_from([b'\0\0\0\0', b'\0\1\0\0']), body=st.binary(max_size=200))
def test_random_bytes_are_rejected_or_are_some_message(header: bytes, body: bytes) -> None:
    read = FixedLayoutReader(JointStateSample.read)
    known = joint_state(('a', 'b'), [1, 2], [3, 4], [])
    read(known)
    try:
        sample, _ = read(header + body)
    except MalformedError:
        pass
    else:
        assert sum(array.nbytes for array in sample[1:]) <= len(body)
    assert_is(read(known)[0], ('a', 'b'), [1, 2], [3, 4], [])


@settings(max_examples=300)
@given(where=st.integers(4, 119), byte=st.integers(0, 255), order=st.sampled_from(ORDERS))
def test_a_damaged_message_is_read_as_a_first_one(where: int, byte: int, order: str) -> None:
    known = joint_state(('a', 'bcd'), [1, 2], [3, 4], [5, 6], order=order)
    damaged = bytearray(known)
    damaged[where % len(known)] = byte
    read = FixedLayoutReader(JointStateSample.read)
    read(known)
    assert outcome(read, bytes(damaged)) == outcome(
        FixedLayoutReader(JointStateSample.read), bytes(damaged)
    )


def outcome(read: FixedLayoutReader[JointStateSample], data: bytes) -> object:
    try:
        sample, stamp = read(data)
    except MalformedError as error:
        return str(error)
    return sample.names, [array.tobytes() for array in sample[1:]], stamp


def fill_joint_state(message: Any, rng: np.random.Generator) -> None:
    message.name = [TEXTS[k] for k in rng.integers(len(TEXTS), size=rng.integers(4))]
    for field in ('position', 'velocity', 'effort'):
        setattr(message, field, rng.normal(size=rng.integers(4)).tolist())


def fill_wrench(message: Any, rng: np.random.Generator) -> None:
    for vector in (message.wrench.force, message.wrench.torque):
        vector.x, vector.y, vector.z = rng.normal(size=3).tolist()


def fill_imu(message: Any, rng: np.random.Generator) -> None:
    for field, axes in (
        ('orientation', 'xyzw'), ('angular_velocity', 'xyz'), ('linear_acceleration', 'xyz'),
    ):
        for axis in axes:
            setattr(getattr(message, field), axis, float(rng.normal()))
        covariance = rng.normal(size=9)
        if rng.random() < 0.3:
            covariance[0] = -1.0
        setattr(message, f'{field}_covariance', covariance)


def same_joint_state(sample: JointStateSample, message: Any) -> None:
    assert_is(sample, tuple(message.name), message.position, message.velocity, message.effort)


def same_wrench(sample: WrenchSample, message: Any) -> None:
    assert sample.frame == message.header.frame_id
    for array, vector in (
        (sample.force, message.wrench.force), (sample.torque, message.wrench.torque),
    ):
        assert array.tolist() == [vector.x, vector.y, vector.z]


def same_imu(sample: ImuSample, message: Any) -> None:
    assert sample.frame == message.header.frame_id
    for part, field, axes in zip(
        sample.present(), ('orientation', 'angular_velocity', 'linear_acceleration'),
        ('xyzw', 'xyz', 'xyz'), strict=True,
    ):
        absent = getattr(message, f'{field}_covariance')[0] == -1.0
        value = getattr(message, field)
        assert part == (None if absent else [getattr(value, axis) for axis in axes])


@pytest.mark.parametrize(('package', 'name', 'kind', 'fill', 'assert_same'), [
    ('sensor_msgs', 'JointState', JointStateSample, fill_joint_state, same_joint_state),
    ('geometry_msgs', 'WrenchStamped', WrenchSample, fill_wrench, same_wrench),
    ('sensor_msgs', 'Imu', ImuSample, fill_imu, same_imu),
])
def test_what_rclpy_writes_is_read_as_rclpy_reads_it(
    package: str, name: str, kind: Any, fill: Callable[..., None], assert_same: Callable[..., None]
) -> None:
    pytest.importorskip('rclpy', reason=NO_ROS)
    from rclpy.serialization import deserialize_message, serialize_message

    message_type = getattr(import_module(f'{package}.msg'), name)
    read: FixedLayoutReader[Any] = FixedLayoutReader(kind.read)
    rng = np.random.default_rng(5)
    for _ in range(2000):
        message = message_type()
        message.header.stamp.sec = int(rng.integers(-(2**31), 2**31))
        message.header.stamp.nanosec = int(rng.integers(2**32))
        message.header.frame_id = TEXTS[rng.integers(len(TEXTS))]
        fill(message, rng)
        data = serialize_message(message)
        sample, stamp = read(data)
        again = deserialize_message(data, message_type)
        assert stamp == again.header.stamp.sec + 1e-9 * again.header.stamp.nanosec
        assert_same(sample, again)
