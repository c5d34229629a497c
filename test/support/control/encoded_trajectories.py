# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""Random JointTrajectory messages as plain data, their CDR encoder, and other types' fields."""

from dataclasses import dataclass, field
import struct

import numpy as np

TEXTS = ('', 'elbow', 'world', 'panda_joint1', 'Gelenk ä', '\u95a2\u7bc0', '\U0001f9be', 'x' * 99)
VALUES = (0.0, -0.0, 1.5, np.nan, np.inf, -np.inf, 5e-324, -1.7e308, 1e9)
SECONDS = (0, 1, -1, 2**31 - 1, -(2**31))
NANOSECONDS = (0, 1, 999_999_999, 1_000_000_000, 2**32 - 1)

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
"""Fields of control_msgs/JointTrajectoryControllerState, from Jazzy on."""

HUMBLE = {
    **{name: JAZZY[name] for name in list(JAZZY)[:6]}, 'desired': POINT, 'actual': POINT,
    **{name: JAZZY[name] for name in list(JAZZY)[6:11]},
    'multi_dof_desired': MULTI, 'multi_dof_actual': MULTI,
}

Time = tuple[int, int]


@dataclass
class Point:
    """Fields (positions, velocities, accelerations, efforts) and time of a point."""

    fields: tuple[list[float], ...] = ([], [], [], [])
    time: Time = (0, 0)


@dataclass
class Message:
    names: list[str] = field(default_factory=list)
    points: list[Point] = field(default_factory=list)
    stamp: Time = (0, 0)
    frame: str = ''


class Encoder:
    """
    Writes plain CDR; ``lengths`` says where the lengths of strings and sequences stand.

    :param order: '<' or '>'
    """

    def __init__(self, order: str) -> None:
        self.order = order
        self.data = bytearray((0, order == '<', 0, 0))
        self.lengths: list[int] = []

    def put(self, kind: str, *values: float) -> None:
        self.data += bytes(-(len(self.data) - 4) % struct.calcsize(kind))
        self.data += struct.pack(f'{self.order}{len(values)}{kind}', *values)

    def put_length(self, length: int) -> None:
        self.put('I', length)
        self.lengths.append(len(self.data) - 4)

    def put_text(self, text: bytes) -> None:
        self.put_length(len(text))
        self.data += text

    def put_message(self, message: Message) -> None:
        self.put('i', message.stamp[0])
        self.put('I', message.stamp[1])
        self.put_text(message.frame.encode() + b'\0')
        self.put_length(len(message.names))
        for name in message.names:
            self.put_text(name.encode() + b'\0')
        self.put_length(len(message.points))
        for point in message.points:
            for values in point.fields:
                self.put_length(len(values))
                if values:
                    self.put('d', *values)
            self.put('i', point.time[0])
            self.put('I', point.time[1])


def encoder_of(message: Message, order: str = '<') -> Encoder:
    encoder = Encoder(order)
    encoder.put_message(message)
    return encoder


def encoded(message: Message, order: str = '<') -> bytes:
    return bytes(encoder_of(message, order).data)


def random_message(rng: np.random.Generator) -> Message:
    """Return a message of any shape: fields of any length, or whole, and any numbers."""
    joints = int(rng.integers(0, 8))
    ragged = rng.random() < 0.5

    def time() -> Time:
        return SECONDS[rng.integers(5)], NANOSECONDS[rng.integers(5)]

    def values() -> list[float]:
        size = int(rng.integers(0, 8)) if ragged else joints
        numbers = rng.normal(size=size)
        if size and rng.random() < 0.2:
            numbers[rng.integers(size)] = VALUES[rng.integers(len(VALUES))]
        listed: list[float] = numbers.tolist()
        return listed

    absent = rng.random(4) < 0.3
    return Message(
        [TEXTS[rng.integers(len(TEXTS))] for _ in range(joints)],
        [
            Point(tuple([] if gone else values() for gone in absent), time())
            for _ in range(rng.integers(0, 6))
        ],
        time(),
        TEXTS[rng.integers(len(TEXTS))],
    )
