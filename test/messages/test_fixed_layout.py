# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""Messages that come again and again are read as rclpy reads them, and rejected where they lie."""

from collections.abc import Sequence
from importlib import import_module
from operator import attrgetter
import sys
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st
import numpy as np
from numpy.typing import ArrayLike
import pytest

from rnea_ros.errors import InputError
from rnea_ros.messages import (
    FixedLayoutReader,
    ImuSample,
    JointStateSample,
    MalformedError,
    WrenchSample,
    controller_state_reader,
)
from rnea_ros.messages.fixed_layout import MAX_LAYOUTS
from rnea_ros.messages.samples import ControllerStateSample
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


@pytest.mark.parametrize('order', ORDERS)
def test_a_message_that_is_cut_at_any_byte_is_rejected(order: str) -> None:
    wrench = header(order, 'wrist')
    wrench.put('d', 1.0, 2.0, 3.0, 4.0, 5.0, 6.0)
    for read_type, data in (
        (JointStateSample.read, joint_state(('a', 'bcd'), [1, 2], [3, 4], [5, 6], order=order)),
        (WrenchSample.read, bytes(wrench.data)),
    ):
        read: FixedLayoutReader[Any] = FixedLayoutReader(read_type)
        read(data)  # known or not
        for size in range(len(data)):
            for reader in (read, FixedLayoutReader[Any](read_type)):
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


@settings(max_examples=120)
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


VECTOR = 'xyz'
PARTS = {
    'Wrench': {'wrench.force': VECTOR, 'wrench.torque': VECTOR},
    'Imu': {'orientation': 'xyzw', 'angular_velocity': VECTOR, 'linear_acceleration': VECTOR},
}


def fill(message: Any, rng: np.random.Generator) -> None:
    """Fill a joint state, wrench or IMU message with random values."""
    if hasattr(message, 'name'):
        message.name = [TEXTS[k] for k in rng.integers(len(TEXTS), size=rng.integers(4))]
        for field in ('position', 'velocity', 'effort'):
            setattr(message, field, rng.normal(size=rng.integers(4)).tolist())
        return
    for path, axes in PARTS['Wrench' if hasattr(message, 'wrench') else 'Imu'].items():
        for axis in axes:
            setattr(attrgetter(path)(message), axis, float(rng.normal()))
        if hasattr(message, f'{path}_covariance'):
            covariance = rng.normal(size=9)
            covariance[0] = -1.0 if rng.random() < 0.3 else covariance[0]
            setattr(message, f'{path}_covariance', covariance)


def assert_same(sample: Any, message: Any) -> None:
    if isinstance(sample, JointStateSample):
        assert_is(sample, tuple(message.name), message.position, message.velocity, message.effort)
        return
    assert sample.frame == message.header.frame_id
    is_wrench = isinstance(sample, WrenchSample)
    parts = [sample.force.tolist(), sample.torque.tolist()] if is_wrench else sample.present()
    kind = PARTS['Wrench' if is_wrench else 'Imu']
    for part, (path, axes) in zip(parts, kind.items(), strict=True):
        absent = not is_wrench and getattr(message, f'{path}_covariance')[0] == -1.0
        assert part == (
            None if absent else [getattr(attrgetter(path)(message), axis) for axis in axes])


@pytest.mark.parametrize(('package', 'name', 'kind'), [
    ('sensor_msgs', 'JointState', JointStateSample),
    ('geometry_msgs', 'WrenchStamped', WrenchSample), ('sensor_msgs', 'Imu', ImuSample),
])
def test_what_rclpy_writes_is_read_as_rclpy_reads_it(package: str, name: str, kind: Any) -> None:
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


# The reference of a JointTrajectoryControllerState, as every ROS distribution sends it


Numbers = Sequence[float]


def encoded(
    fields: dict[str, str], names: Sequence[str], reference: Sequence[Numbers], speed: float, *,
    order: str = '<', time: tuple[int, int] = (3, 4), multi_dof: int = 0,
) -> bytes:
    """Return a message whose other points have numbers of their own."""
    encoder = Encoder(order)
    for number, (name, kind) in enumerate(fields.items()):
        if kind == HEADER:
            encoder.put('i', 7)
            encoder.put('I', 500_000_000)
            encoder.put_text(b'base\0')
        elif kind == NAMES:
            listed = names if name == 'joint_names' else ['virtual'] * multi_dof
            encoder.put_length(len(listed))
            for text in listed:
                encoder.put_text(text.encode() + b'\0')
        elif kind == 'double':
            encoder.put('d', speed)
        else:
            for part, width in enumerate((7, 6, 6) if kind == MULTI else (1,) * 4):
                count = multi_dof if kind == MULTI else len(names)
                values: Numbers = np.full(width * count, 100.0 + number).tolist()
                if name == 'reference':
                    values, count = reference[part], len(reference[part])
                encoder.put_length(count)
                if values:
                    encoder.put('d', *values)
            encoder.put('i', time[0])
            encoder.put('I', time[1])
    return bytes(encoder.data)


def reader(fields: dict[str, str]) -> FixedLayoutReader[ControllerStateSample]:
    return FixedLayoutReader(controller_state_reader(fields))


@pytest.mark.parametrize('fields', [JAZZY, HUMBLE], ids=['jazzy', 'humble'])
@pytest.mark.parametrize('order', ['<', '>'])
@pytest.mark.parametrize('multi_dof', [0, 2])
def test_the_reference_and_the_factor_are_those_of_the_newest_message(
    fields: dict[str, str], order: str, multi_dof: int
) -> None:
    read = reader(fields)
    names = ['arm', 'elbow', 'wrist3']
    seen = set()
    for k in range(4):
        columns = [[k, 1.0, 2.0], [3.0, k, 5.0], [6.0, 7.0, k] if k % 2 else [], []]
        data = encoded(
            fields, names, columns, 0.1 * k, order=order, time=(k, 2 * k), multi_dof=multi_dof
        )
        sample, stamp = read(data)
        assert stamp == 7.5
        assert sample.names == ('arm', 'elbow', 'wrist3')
        for values, column in zip(sample[1:4], columns, strict=False):
            assert values.tolist() == column
        assert sample.speed.tolist() == ([0.1 * k] if fields is JAZZY else [])
        seen.add(id(sample.names))
    # In the machine's byte order only the first message of a layout is taken apart.
    assert len(seen) == 2 or order != ('<' if sys.byteorder == 'little' else '>')


@pytest.mark.parametrize('fields', [JAZZY, HUMBLE], ids=['jazzy', 'humble'])
def test_a_message_that_is_cut_anywhere_is_rejected(fields: dict[str, str]) -> None:
    whole = encoded(fields, ['a', 'b'], [[1.0, 2.0]] * 4, 0.5)
    end = len(whole) if fields is JAZZY else 4 + whole.index(np.float64(103.0).tobytes()) - 12
    for length in range(4, end):
        with pytest.raises(MalformedError):
            reader(fields)(whole[:length])
    reader(fields)(whole)


def test_missing_control_msgs_and_parameter_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip('rclpy', reason=NO_ROS)
    from rnea_ros.node.inputs import reference_topics

    monkeypatch.setitem(sys.modules, 'control_msgs.msg', None)
    with pytest.raises(InputError, match=r'^reference_source: .*control_msgs[^\n]*$'):
        reference_topics.controller_state_type()
