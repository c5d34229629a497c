# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""Messages of any size: rejected before they are copied or formatted, with size and bound."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from rnea_ros.feedforward import Reason
from rnea_ros.feedforward.trajectory import (
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
from support.control.control_rig import free_rules
from support.control.encoded_trajectories import HUMBLE, Encoder


def message(frame: bytes, *names: bytes) -> bytes:
    """Return a header, names and zeros: a message of every type with names."""
    encoder = Encoder('<')
    encoder.put('I', 0, 0)
    encoder.put_text(frame + b'\0')
    encoder.put_length(len(names))
    for name in names:
        encoder.put_text(name + b'\0')
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
