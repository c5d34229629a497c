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
from ..feedforward.motion.parse import FIELDS, Column, Header, TrajectoryRequest
from .cdr import HEADER, MAX_NAMES, MAX_TEXT, CdrMessage, MalformedError

# The parts of a point, in this order; and the bytes of a point without values.
_PARTS = (*(part for field in FIELDS for part in (f'number of {field}', field)), 'time')
_MIN_POINT = 24

# Little endian; no stamp, frame or joints; one point at time 0 with one position.
_SMALLEST = bytes((0, 1, 0, 0, *bytes(16), 1, 0, 0, 0, 1, 0, 0, 0, *bytes(8 + 12 + 8)))


def decode_trajectory(data: bytes) -> TrajectoryRequest:
    """Decode a trajectory_msgs/JointTrajectory; other bytes raise a MalformedError."""
    message = CdrMessage(data)
    header = Header(message.integer('stamp'), message.unsigned('stamp'), message.text('frame'))
    names = message.names()
    times, columns = _read_points(message)
    return TrajectoryRequest(names, times, **columns, start_time=header.time, header=header)


def load_decoder() -> None:
    """Compile or load the kernels, so that the first message need not wait for them."""
    decode_trajectory(_SMALLEST)


def trajectory_request(message: Any) -> TrajectoryRequest:
    """Return rclpy's message; a RequestRejectedError above the bounds for names."""
    points, names, frame = message.points, tuple(message.joint_names), message.header.frame_id
    parts = ('frame', *(f'name of joint {joint}' for joint in range(min(len(names), MAX_NAMES))))
    for number, most, what in (
        *((len(text.encode()) + 1, MAX_TEXT, f'bytes of {part}')
          for part, text in zip(parts, (frame, *names), strict=False)),
        (len(names), MAX_NAMES, 'joints'),
    ):
        if number > most:
            raise RequestRejectedError(
                Reason.TOO_LARGE.value, f'{number} {what}, at most {most} are read'
            )
    columns = {}
    for field in FIELDS:
        rows = [getattr(point, 'effort' if field == 'efforts' else field) for point in points]
        counts = np.array([len(row) for row in rows], dtype=np.int64)
        columns[field] = Column(np.array(array('d', b''.join(rows))), counts)
    times = np.array([p.time_from_start.sec + 1e-9 * p.time_from_start.nanosec for p in points])
    header = Header(message.header.stamp.sec, message.header.stamp.nanosec, frame)
    return TrajectoryRequest(names, times, **columns, start_time=header.time, header=header)


def _read_points(message: CdrMessage) -> tuple[Array, dict[str, Column]]:
    """Return the times of the points, shape (points,), and their fields by name."""
    count = message.unsigned('number of points')
    message.expect(count * _MIN_POINT, f'{count} points')
    starts, counts = np.empty((2, len(FIELDS), count), dtype=np.int64)
    times = np.empty((2, count), dtype=np.int32)
    point, part, offset, need = _find_points(
        message.words, message.size, message.offset, starts, counts, times
    )
    if point < count:
        what = f'{_PARTS[part]} of point {point}'
        raise MalformedError.too_short(offset + HEADER, what, need, message.size - offset)
    columns = {}
    for field, start, values_of_points in zip(FIELDS, starts, counts, strict=True):
        values = np.empty(int(values_of_points.sum()))
        if values.size:
            _copy_values(message.doubles, start, values_of_points, values)
        columns[field] = Column(values, values_of_points)
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
