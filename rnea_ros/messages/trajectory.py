# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""
Reader of trajectory_msgs/JointTrajectory: of its bytes, or of the message that rclpy made of them.

rclpy makes a Python object of every point and every value, and blocks all other threads meanwhile:
13 ms for 1,000 points of 7 joints. For bytes, compiled kernels walk along the points and copy the
values, while the control loop goes on.

Memory is allocated only for values that are in the message, whatever its lengths say.
"""

from __future__ import annotations

from array import array
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..arrays import Array
from ..compilation import batch_entry
from ..errors import RequestRejectedError
from ..feedforward import Reason
from ..feedforward.motion import Column, Header, TrajectoryRequest
from .cdr import HEADER, MAX_NAMES, MAX_TEXT, CdrMessage, MalformedError, aligned

_FIELDS = ('positions', 'velocities', 'accelerations', 'efforts')
# The parts of a point, in this order; and the bytes of a point without values.
_PARTS = (*(part for field in _FIELDS for part in (f'number of {field}', field)), 'time')
_MIN_POINT = 24

# Little endian; no stamp, frame or joints; one point at time 0 with one position.
_SMALLEST = bytes((0, 1, 0, 0, *bytes(16), 1, 0, 0, 0, 1, 0, 0, 0, *bytes(8 + 12 + 8)))


def decode_trajectory(data: bytes) -> TrajectoryRequest:
    """Decode a trajectory_msgs/JointTrajectory; other bytes raise a MalformedError."""
    message = CdrMessage(data)
    seconds, nanoseconds = message.integer('stamp'), message.unsigned('stamp')
    header = Header(seconds, nanoseconds, message.text('frame'))
    return _request(message.names(), *_read_points(message), header)


def load_decoder() -> None:
    """Compile or load the kernels, so that the first message need not wait for them."""
    decode_trajectory(_SMALLEST)


def trajectory_request(message: Any) -> TrajectoryRequest:
    """Return rclpy's message; a RequestRejectedError above the bounds of :class:`.CdrMessage`."""
    points, names = message.points, tuple(message.joint_names)
    columns = []
    for field in ('positions', 'velocities', 'accelerations', 'effort'):
        rows = [getattr(point, field) for point in points]
        counts = np.array([len(row) for row in rows], dtype=np.int64)
        columns.append(Column(np.array(array('d', b''.join(rows))), counts))
    stamp = message.header.stamp
    header = Header(stamp.sec, stamp.nanosec, message.header.frame_id)
    _check_bounds(header.frame_id, names, [column.counts for column in columns])
    times = [each.time_from_start.sec + 1e-9 * each.time_from_start.nanosec for each in points]
    return _request(names, np.array(times, dtype=np.float64), columns, header)


def _request(
    names: tuple[str, ...], times: Array, columns: list[Column], header: Header
) -> TrajectoryRequest:
    positions, velocities, accelerations, efforts = columns
    start_time = header.seconds + 1e-9 * header.nanoseconds or None
    return TrajectoryRequest(
        names, times, positions, velocities, accelerations, efforts, start_time, header
    )


def _check_bounds(frame: str, names: tuple[str, ...], counts: list[NDArray[np.int64]]) -> None:
    """Raise a RequestRejectedError for a trajectory whose bytes would not be read."""
    texts = [len(text.encode()) + 1 for text in (frame, *names)]
    size = 8  # of the stamp; behind it frame, number of joints, names, number of points
    for text in (texts[0], 0, *texts[1:], 0):
        size = aligned(size, 4) + 4 + text
    for of_point in zip(*(column.tolist() for column in counts), strict=True):
        for count in of_point:
            size = aligned(size + 4, 8 if count else 4) + 8 * count
        size += 8
    names_read = enumerate(texts[1 : MAX_NAMES + 1])
    for number, most, what in (
        (HEADER + size, CdrMessage.MAX_SIZE, 'bytes of the message'),
        (texts[0], MAX_TEXT, 'bytes of frame'),
        *((text, MAX_TEXT, f'bytes of name of joint {joint}') for joint, text in names_read),
        (len(names), MAX_NAMES, 'joints'),
    ):
        if number > most:
            raise RequestRejectedError(
                Reason.TOO_LARGE.value, f'{number} {what}, at most {most} are read'
            )


def _read_points(message: CdrMessage) -> tuple[Array, list[Column]]:
    """Return the times of the points, shape (points,), and their fields."""
    count = message.unsigned('number of points')
    message.expect(count * _MIN_POINT, f'{count} points')
    starts, counts = np.empty((2, len(_FIELDS), count), dtype=np.int64)
    times = np.empty((2, count), dtype=np.int32)
    point, part, offset, need = _find_points(
        message.words, message.size, message.offset, starts, counts, times
    )
    if point < count:
        what = f'{_PARTS[part]} of point {point}'
        raise MalformedError.too_short(offset + HEADER, what, need, message.size - offset)
    columns = []
    for start, values_of_points in zip(starts, counts, strict=True):
        values = np.empty(int(values_of_points.sum()))
        _copy_values(message.doubles, start, values_of_points, values)
        columns.append(Column(values, values_of_points))
    return times[0] + 1e-9 * times[1].view(np.uint32), columns


@batch_entry
def _find_points(
    words: NDArray[np.int32], size: int, offset: int, starts: NDArray[np.int64],
    counts: NDArray[np.int64], times: NDArray[np.int32],
) -> tuple[int, int, int, int]:
    """
    Find the values of all points, up to a point for which bytes are missing; offsets in bytes.

    Outputs: offset, in doubles, and number of the values of each field, shape (fields, points);
    seconds and nanoseconds, shape (2, points). Returns the number of complete points; then, for an
    incomplete one: index in :data:`_PARTS` of the incomplete part, its offset, the bytes it needs.
    """
    for point in range(times.shape[1]):
        for field in range(starts.shape[0]):
            if size - offset < 4:
                return point, 2 * field, offset, 4
            count = int(words[offset // 4]) & 0xFFFFFFFF
            offset += 4
            if count > 0:
                offset = (offset + 7) // 8 * 8
            if size - offset < 8 * count:
                return point, 2 * field + 1, offset, 8 * count
            starts[field, point] = offset // 8
            counts[field, point] = count
            offset += 8 * count
        if size - offset < 8:
            return point, 2 * starts.shape[0], offset, 8
        times[0, point] = words[offset // 4]
        times[1, point] = words[offset // 4 + 1]
        offset += 8
    return times.shape[1], 0, offset, 0


@batch_entry
def _copy_values(
    doubles: Array, starts: NDArray[np.int64], counts: NDArray[np.int64], values: Array
) -> None:
    """Copy one field's values, point after point; starts in doubles, counts: shape (points,)."""
    end = 0
    for point in range(counts.shape[0]):
        begin, end = end, end + counts[point]
        for k in range(counts[point]):
            values[begin + k] = doubles[starts[point] + k]
