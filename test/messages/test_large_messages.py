# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""Messages of any size: rejected before they are copied or formatted, with size and bound."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from rnea_ros.errors import InputError, RneaError, UnknownNameError, one_line
from rnea_ros.feedforward import Reason
from rnea_ros.feedforward.trajectory import (
    JointTolerance,
    TrajectoryError,
    TrajectoryPoint,
    TrajectoryRequest,
    compile_trajectory,
    default_tolerances,
)
from rnea_ros.feedforward.trajectory.parse import MAX_VALUES
from rnea_ros.messages import (
    CdrMessage,
    FixedLayout,
    FixedLayoutReader,
    ImuSample,
    JointStateSample,
    MalformedError,
    WrenchSample,
    controller_state_reader,
    decode_trajectory,
)
from rnea_ros.messages.cdr import MAX_NAMES, MAX_TEXT
from support.control.control_rig import free_rules
from support.control.encoded_trajectories import Encoder

CONTROLLER_STATE = {
    'header': 'std_msgs/Header', 'joint_names': 'sequence<string>',
    'reference': 'trajectory_msgs/JointTrajectoryPoint',
}
DECODERS: dict[str, tuple[Callable[[bytes], Any], int]] = {
    'joint states': (FixedLayoutReader(JointStateSample.read), FixedLayout.MAX_SIZE),
    'wrench': (FixedLayoutReader(WrenchSample.read), FixedLayout.MAX_SIZE),
    'imu': (FixedLayoutReader(ImuSample.read), FixedLayout.MAX_SIZE),
    'controller state': (
        FixedLayoutReader(controller_state_reader(CONTROLLER_STATE)), FixedLayout.MAX_SIZE
    ),
    'trajectory': (decode_trajectory, CdrMessage.MAX_SIZE),
}
WITH_NAMES = ('joint states', 'controller state', 'trajectory')


def message(frame: bytes, *names: bytes, tail: int = 400) -> bytes:
    """Return a header, names and zeros: a message of every type with names."""
    encoder = Encoder('<')
    encoder.put('I', 0, 0)
    encoder.put_text(frame + b'\0')
    encoder.put_length(len(names))
    for name in names:
        encoder.put_text(name + b'\0')
    return bytes(encoder.data) + bytes(tail)


def rejection(kind: str, data: bytes) -> str:
    with pytest.raises(MalformedError) as caught:
        DECODERS[kind][0](data)
    assert caught.value.reason is Reason.TOO_LARGE
    assert len(str(caught.value)) < 200
    return str(caught.value)


@pytest.mark.parametrize('kind', DECODERS)
def test_a_message_above_its_bound_is_rejected_before_it_is_read(kind: str) -> None:
    decode, bound = DECODERS[kind]
    decode(message(b'', b'').ljust(bound, b'\0'))
    said = rejection(kind, bytes(bound + 1))  # without a valid header
    assert said == f'too_large: byte 0: {bound + 1} bytes of the message, at most {bound} are read'


@pytest.mark.parametrize('kind', DECODERS)
def test_a_frame_above_its_bound_is_rejected(kind: str) -> None:
    DECODERS[kind][0](message(b'x' * (MAX_TEXT - 1)))
    assert f'{MAX_TEXT + 1} bytes of frame, at most' in rejection(kind, message(b'x' * MAX_TEXT))


@pytest.mark.parametrize('kind', WITH_NAMES)
def test_names_above_their_bounds_are_rejected(kind: str) -> None:
    DECODERS[kind][0](message(b'', *MAX_NAMES * [b'x' * (MAX_TEXT - 30)]))
    long = message(b'', b'x' * 60_000)
    assert '60001 bytes of name of joint 0, at most 256 are read' in rejection(kind, long)
    many = message(b'', *(MAX_NAMES + 1) * [b'x'])
    assert '257 joints, at most 256 are read' in rejection(kind, many)


def test_a_trajectory_of_too_many_points_says_how_many_are_accepted() -> None:
    rules = free_rules(('a', 'b'))
    points = [TrajectoryPoint(float(k), (0.0, 0.0)) for k in range(MAX_VALUES // 2 + 1)]
    start: dict[str, Any] = {'now': 0.0, 'position': np.zeros(2), 'velocity': np.zeros(2)}
    with pytest.raises(TrajectoryError) as caught:
        compile_trajectory(TrajectoryRequest.of_points(('a', 'b'), points), rules, **start)
    assert str(caught.value) == (
        'too_large: 250001 points of 2 joints, at most 250000: send fewer points, or parts one '
        'after the other'
    )
    compile_trajectory(TrajectoryRequest.of_points(('a', 'b'), points[:-1]), rules, **start)


@pytest.mark.parametrize('error', [
    RneaError('x' * 10**6), InputError('x' * 10**6, 'x' * 10**6),
    UnknownNameError('joint', 'x' * 10**6, ['x' * 10**6]), ValueError('x ' * 10**6),
])
def test_the_text_of_every_error_is_cut_off(error: Exception) -> None:
    assert len(one_line(error)) <= 4000
    if isinstance(error, RneaError):
        assert len(str(error)) <= 4000


def test_a_long_name_in_a_tolerance_is_cut_off() -> None:
    tolerances = default_tolerances(('a',), {}, {}, 0.0, 0.0)
    with pytest.raises(RneaError) as caught:
        tolerances.stated([JointTolerance('x' * 10**6, 0.0, 0.0, 0.0)], [], 0.0)
    assert len(str(caught.value)) < 200
