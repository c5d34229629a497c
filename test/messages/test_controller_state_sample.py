# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""The reference of a JointTrajectoryControllerState is read as every ROS distribution sends it."""

from collections.abc import Sequence
import sys
from typing import Any

import numpy as np
import pytest

from rnea_ros.errors import InputError
from support.control.encoded_trajectories import Encoder
from support.control.trajectory_controller import NO_CONTROL_MSGS
from support.ros.ros_process import NO_ROS

pytest.importorskip('rclpy', reason=NO_ROS)


from rnea_ros.messages import FixedLayoutReader, MalformedError, controller_state_reader
from rnea_ros.messages.samples import ControllerStateSample
from rnea_ros.node.inputs import reference_topics

HEADER, NAMES = 'std_msgs/Header', 'sequence<string>'
POINT = 'trajectory_msgs/JointTrajectoryPoint'
MULTI = 'trajectory_msgs/MultiDOFJointTrajectoryPoint'

JAZZY = {
    'header': HEADER, 'joint_names': NAMES,
    'reference': POINT, 'feedback': POINT, 'error': POINT, 'output': POINT,
    'multi_dof_joint_names': NAMES,
    'multi_dof_reference': MULTI, 'multi_dof_feedback': MULTI, 'multi_dof_error': MULTI,
    'multi_dof_output': MULTI, 'speed_scaling_factor': 'double',
}
HUMBLE = {
    **{name: JAZZY[name] for name in list(JAZZY)[:6]}, 'desired': POINT, 'actual': POINT,
    **{name: JAZZY[name] for name in list(JAZZY)[6:11]},
    'multi_dof_desired': MULTI, 'multi_dof_actual': MULTI,
}
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
            widths = (7, 6, 6) if kind == MULTI else (1,) * 4
            for part, width in enumerate(widths):
                values: Numbers = np.full(width * len(names), 100.0 + number).tolist()
                count = len(names)
                if kind == MULTI:
                    values, count = np.full(width * multi_dof, 9.0).tolist(), multi_dof
                elif name == 'reference':
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


def test_only_the_first_message_of_a_layout_is_taken_apart() -> None:
    read = reader(JAZZY)
    first, _ = read(encoded(JAZZY, ['a'], [[1.0]] * 4, 0.5, time=(0, 1)))
    second, _ = read(encoded(JAZZY, ['a'], [[2.0]] * 4, 0.7, time=(9, 999)))
    assert second is first
    assert (second.position.item(), second.speed.item()) == (2.0, 0.7)


@pytest.mark.parametrize('fields', [JAZZY, HUMBLE], ids=['jazzy', 'humble'])
def test_a_message_that_is_cut_anywhere_is_rejected(fields: dict[str, str]) -> None:
    whole = encoded(fields, ['a', 'b'], [[1.0, 2.0]] * 4, 0.5)
    end = len(whole) if fields is JAZZY else 4 + whole.index(np.float64(103.0).tobytes()) - 12
    for length in range(4, end):
        with pytest.raises(MalformedError):
            reader(fields)(whole[:length])
    reader(fields)(whole)


def test_rclpy_writes_what_is_read() -> None:
    messages = pytest.importorskip('control_msgs.msg', reason=NO_CONTROL_MSGS)
    from rclpy.serialization import serialize_message

    kind = messages.JointTrajectoryControllerState
    assert kind.get_fields_and_field_types() in (JAZZY, HUMBLE)
    message: Any = kind(joint_names=['a', 'bc'])
    message.header.stamp.sec = 12
    message.reference.positions = [1.0, 2.0]
    message.reference.velocities = [3.0, 4.0]
    message.output.effort = [5.0, 6.0]
    if hasattr(message, 'speed_scaling_factor'):
        message.speed_scaling_factor = 0.25
    sample, stamp = reader(kind.get_fields_and_field_types())(serialize_message(message))
    assert (stamp, sample.names) == (12.0, ('a', 'bc'))
    numbers = [values.tolist() for values in sample[1:4]]
    assert numbers == [[1.0, 2.0], [3.0, 4.0], []]
    assert sample.speed.tolist() == ([0.25] if hasattr(message, 'speed_scaling_factor') else [])


def test_missing_control_msgs_and_parameter_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, 'control_msgs.msg', None)
    with pytest.raises(InputError, match='reference_source') as caught:
        reference_topics.controller_state_type()
    assert 'control_msgs' in str(caught.value)
    assert '\n' not in str(caught.value)
