# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""The reference of a JointTrajectoryControllerState is read as every ROS distribution sends it."""

from collections.abc import Sequence
import sys

import numpy as np
import pytest

from rnea_ros.errors import InputError
from rnea_ros.messages import FixedLayoutReader, MalformedError, controller_state_reader
from rnea_ros.messages.samples import ControllerStateSample
from support.control.encoded_trajectories import HEADER, HUMBLE, JAZZY, MULTI, NAMES, Encoder
from support.ros.ros_process import NO_ROS

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
