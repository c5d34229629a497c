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


def numbers(frame: str, values: ArrayLike, order: str = '<') -> bytes:
    """Return a message of a header and numbers: a wrench, or an IMU's."""
    encoder = header(order, frame)
    encoder.put('d', *np.asarray(values, dtype=float))
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
    names = set()
    for k in range(3):
        sample, _ = read(joint_state(('a', 'b'), [k, 1], [2, 3], []))
        names.add(id(sample.names))
        assert_is(sample, ('a', 'b'), [k, 1], [2, 3], [])
        sample, _ = read(other)
        assert_is(sample, alone.names, *alone[1:])
    assert len(names) == 1  # unchanged names are the same object


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


def test_a_wrench_is_its_force_and_then_its_torque() -> None:
    for order in ORDERS:
        read = FixedLayoutReader(WrenchSample.read)
        for k in range(3):
            sample, _ = read(numbers('wrist', [k, 2, 3, 4, 5, 6], order))
            assert sample.frame == 'wrist'
            assert [sample.force.tolist(), sample.torque.tolist()] == [[k, 2, 3], [4, 5, 6]]


def test_a_part_of_an_imu_is_absent_where_its_covariance_says_so() -> None:
    read = FixedLayoutReader(ImuSample.read)
    for absent in range(3):
        values = np.arange(37.0)
        values[(4, 16, 28)[absent]] = -1.0
        sample, _ = read(numbers('imu', values))
        parts: list[list[float] | None] = [[0, 1, 2, 3], [13, 14, 15], [25, 26, 27]]
        parts[absent] = None
        assert sample.present() == parts
        assert sample.frame == 'imu'


@pytest.mark.parametrize('order', ORDERS)
def test_a_message_that_is_cut_at_any_byte_is_rejected(order: str) -> None:
    for kind, data in (
        (JointStateSample, joint_state(('a', 'bcd'), [1, 2], [3, 4], [5, 6], order=order)),
        (WrenchSample, numbers('wrist', [1, 2, 3, 4, 5, 6], order)),
    ):
        read: FixedLayoutReader[Any] = FixedLayoutReader(kind.read)  # type: ignore[attr-defined]
        read(data)  # known or not
        for size in range(len(data)):
            for reader in (read, FixedLayoutReader(kind.read)):  # type: ignore[attr-defined]
                with pytest.raises(MalformedError):
                    reader(data[:size])
        read(data)


def outcome(read: FixedLayoutReader[JointStateSample], data: bytes) -> object:
    try:
        sample, stamp = read(data)
    except MalformedError as error:
        return str(error)
    assert sum(array.nbytes for array in sample[1:]) <= len(data)
    return sample.names, [array.tobytes() for array in sample[1:]], stamp


@settings(max_examples=200)
@given(
    order=st.sampled_from(ORDERS), body=st.none() | st.binary(max_size=200),
    where=st.integers(4, 119), byte=st.integers(0, 255),
)
def test_random_and_damaged_messages_are_read_as_first_ones(
    order: str, body: bytes | None, where: int, byte: int
) -> None:
    columns = [1, 2], [3, 4], [5, 6]
    known = joint_state(('a', 'bcd'), *columns, order=order)
    data = bytearray(known if body is None else known[:4] + body)
    if body is None:
        data[where % len(known)] = byte
    read = FixedLayoutReader(JointStateSample.read)
    read(known)
    assert outcome(read, bytes(data)) == outcome(
        FixedLayoutReader(JointStateSample.read), bytes(data)
    )
    assert_is(read(known)[0], ('a', 'bcd'), *columns)


def fill_joint_state(message: Any, rng: np.random.Generator) -> None:
    message.name = [TEXTS[k] for k in rng.integers(len(TEXTS), size=rng.integers(4))]
    for field in ('position', 'velocity', 'effort'):
        setattr(message, field, rng.normal(size=rng.integers(4)).tolist())


def same_joint_state(sample: JointStateSample, message: Any) -> None:
    assert_is(sample, tuple(message.name), message.position, message.velocity, message.effort)


def fill_wrench(message: Any, rng: np.random.Generator) -> None:
    for vector in (message.wrench.force, message.wrench.torque):
        vector.x, vector.y, vector.z = rng.normal(size=3).tolist()


def same_wrench(sample: WrenchSample, message: Any) -> None:
    assert sample.frame == message.header.frame_id
    for array, vector in (
        (sample.force, message.wrench.force), (sample.torque, message.wrench.torque),
    ):
        assert array.tolist() == [vector.x, vector.y, vector.z]


IMU = {'orientation': 'xyzw', 'angular_velocity': 'xyz', 'linear_acceleration': 'xyz'}


def fill_imu(message: Any, rng: np.random.Generator) -> None:
    for field, axes in IMU.items():
        for axis in axes:
            setattr(getattr(message, field), axis, float(rng.normal()))
        covariance = rng.normal(size=9)
        if rng.random() < 0.3:
            covariance[0] = -1.0
        setattr(message, f'{field}_covariance', covariance)


def same_imu(sample: ImuSample, message: Any) -> None:
    assert sample.frame == message.header.frame_id
    for part, (field, axes) in zip(sample.present(), IMU.items(), strict=True):
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
    for _ in range(500):
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
