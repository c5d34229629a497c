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
    Column,
    TrajectoryError,
    TrajectoryRequest,
    compile_trajectory,
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
from support.control.encoded_trajectories import HUMBLE, Encoder

DECODERS: dict[str, tuple[Callable[[bytes], Any], int]] = {
    'joint states': (FixedLayoutReader(JointStateSample.read), FixedLayout.MAX_SIZE),
    'wrench': (FixedLayoutReader(WrenchSample.read), FixedLayout.MAX_SIZE),
    'imu': (FixedLayoutReader(ImuSample.read), FixedLayout.MAX_SIZE),
    'controller state': (
        FixedLayoutReader(controller_state_reader(HUMBLE)), FixedLayout.MAX_SIZE
    ),
    'trajectory': (decode_trajectory, CdrMessage.MAX_SIZE),
}


def message(frame: bytes, *names: bytes) -> bytes:
    """Return a header, names and zeros: a message of every type with names."""
    encoder = Encoder('<')
    encoder.put('I', 0, 0)
    encoder.put_text(frame + b'\0')
    encoder.put_length(len(names))
    for name in names:
        encoder.put_text(name + b'\0')
    return bytes(encoder.data) + bytes(400)


def test_the_bounds_are_those_of_the_documents() -> None:
    assert (FixedLayout.MAX_SIZE, CdrMessage.MAX_SIZE) == (65_536, 20_000_000)
    assert (MAX_NAMES, MAX_TEXT, MAX_VALUES) == (256, 256, 500_000)


@pytest.mark.parametrize('kind', DECODERS)
def test_a_message_above_its_bounds_is_rejected_before_it_is_read(kind: str) -> None:
    decode, bound = DECODERS[kind]
    longest, many = b'x' * (MAX_TEXT - 1), MAX_NAMES * [b'x' * (MAX_TEXT - 30)]
    cases = [
        (message(b'', b'').ljust(bound, b'\0'), bytes(bound + 1),  # without a valid header
         f'too_large: byte 0: {bound + 1} bytes of the message, at most {bound} are read'),
        (message(longest), message(longest + b'x'), f'{MAX_TEXT + 1} bytes of frame, at most'),
    ]
    if kind not in ('wrench', 'imu'):
        cases += [
            (message(b'', longest), message(b'', b'x' * 60_000),
             '60001 bytes of name of joint 0, at most 256 are read'),
            (message(b'', *many), message(b'', *[b'x'] * (MAX_NAMES + 1)),
             '257 joints, at most 256 are read'),
        ]
    for accepted, rejected, words in cases:
        decode(accepted)
        with pytest.raises(MalformedError) as caught:
            decode(rejected)
        assert caught.value.reason is Reason.TOO_LARGE
        assert words in str(caught.value)
        assert len(str(caught.value)) < 200


def test_a_trajectory_of_too_many_points_says_how_many_are_accepted() -> None:
    start: dict[str, Any] = {'now': 0.0, 'position': np.zeros(2), 'velocity': np.zeros(2)}
    rules = free_rules(('a', 'b'))

    def request(points: int) -> TrajectoryRequest:
        none = Column(np.empty(0), np.zeros(points, dtype=np.int64))
        positions = Column(np.zeros(2 * points), np.full(points, 2))
        return TrajectoryRequest(('a', 'b'), np.zeros(points), positions, none, none, none)

    with pytest.raises(TrajectoryError) as caught:
        compile_trajectory(request(MAX_VALUES // 2 + 1), rules, **start)
    assert '250001 points of 2 joints, at most 250000: send fewer points' in str(caught.value)
    with pytest.raises(TrajectoryError, match=r'^times_not_increasing'):  # checked next
        compile_trajectory(request(MAX_VALUES // 2), rules, **start)


def test_the_text_of_every_error_is_cut_off() -> None:
    x = 'x' * 10**6
    for error in (RneaError(x), InputError(x, x), UnknownNameError('joint', x, [x])):
        assert len(str(error)) <= 4000
    assert len(one_line(ValueError('x ' * 10**6))) <= 4000
