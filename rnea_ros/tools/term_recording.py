# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""Read the terms of a node's commands from a bag."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
import re

import numpy as np

from ..arrays import Array
from ..errors import InputError, UnknownNameError
from ..feedforward.law import Terms
from ..recordings import Bag, BagError, open_bag, stamp_or_receipt

JOINT_STATE = 'sensor_msgs/msg/JointState'
TERM_TOPIC = re.compile(r'(/.+)/terms/(\w+)')

COMMANDED = 'commanded'
MEASURED = 'measured'
TERMS = tuple(part.name for part in fields(Terms))
ORDER = (MEASURED, COMMANDED, *TERMS)
"""Order of the efforts in the picture; others follow alphabetically."""


@dataclass(frozen=True)
class Line:
    """
    One effort of one joint over time.

    :param time: shape (N,), s
    :param effort: shape (N,), N m or N
    """

    time: Array
    effort: Array


@dataclass(frozen=True)
class TermRecording:
    """
    Terms, commands and measured efforts of a node in a bag.

    :param node: full name of the node
    :param joints: names of the commanded joints, in the order of the commands
    :param lines: efforts by name (terms, COMMANDED, MEASURED) and joint
    """

    node: str
    joints: tuple[str, ...]
    lines: Mapping[str, Mapping[str, Line]]

    def of_joints(self, joints: Sequence[str]) -> TermRecording:
        """
        Return the recording for some joints, in their order.

        :param joints: names of the joints
        :raises UnknownNameError: a joint is not commanded
        """
        for joint in joints:
            if joint not in self.joints:
                raise UnknownNameError('joint', joint, self.joints)
        return TermRecording(self.node, tuple(joints), self.lines)

    def with_scaled_measurement(self, factors: Array) -> TermRecording:
        """
        Return the recording with measured efforts in N m or N.

        :param factors: N m or N per recorded unit, one number or one for each joint
        :raises InputError: another number of factors
        """
        if len(factors) not in (1, len(self.joints)):
            raise InputError(
                '--effort-scale', f'{len(factors)} factors for {len(self.joints)} joints'
            )
        of_joint = dict(zip(self.joints, np.resize(factors, len(self.joints)), strict=True))
        scaled = {
            joint: Line(line.time, of_joint[joint] * line.effort)
            for joint, line in self.lines.get(MEASURED, {}).items()
        }
        lines = {what: scaled if what == MEASURED else of for what, of in self.lines.items()}
        return TermRecording(self.node, self.joints, lines)

    def is_nonzero(self, name: str) -> bool:
        """Return whether an effort is neither zero nor NaN for any joint at any time."""
        lines = self.lines[name]
        efforts = [lines[joint].effort for joint in self.joints if joint in lines]
        return any(np.any(np.nan_to_num(effort)) for effort in efforts)


def read_terms(path: Path, node: str | None = None, topic: str | None = None) -> TermRecording:
    """
    Read the terms of a node from a bag; times count from the first term.

    :param path: directory of a ROS 2 bag, or a file of it
    :param node: full name of the node; None for the only one with terms
    :param topic: topic of the measured efforts; None for ``joint_states`` in the node's namespace
    :raises BagError: the bag cannot be read, has no terms, or has terms of several nodes
    """
    with open_bag(path) as bag:
        node = _node(path, bag, node)
        labels = _labels(bag, node, topic)
        rows: dict[tuple[str, tuple[str, ...]], list[tuple[float, Array]]] = defaultdict(list)
        for source, received, message in bag.messages(labels):
            names = tuple(message.name)
            if len(message.effort) == len(names):
                time = stamp_or_receipt(message.header, received)
                rows[labels[source], names].append((time, message.effort))
    joints = tuple(dict.fromkeys(
        name for (what, names) in rows if what != MEASURED for name in names
    ))
    if not joints:
        raise BagError(f'{path} has topics of {node}, but no message with an effort on them')
    start = min(times[0][0] for (what, _), times in rows.items() if what != MEASURED)
    return TermRecording(node, joints, _lines(rows, joints, start))


def _node(path: Path, bag: Bag, node: str | None) -> str:
    """Return the chosen node, or the only one with terms."""
    nodes = sorted({
        match[1]
        for topic, message_type in bag.topics.items()
        if message_type == JOINT_STATE and (match := TERM_TOPIC.fullmatch(topic))
    })
    chosen = nodes if node is None else [f'/{node.strip("/")}']
    if len(chosen) == 1 and chosen[0] in nodes:
        return chosen[0]
    if nodes:
        raise BagError(f'{path} has terms of {", ".join(nodes)}; choose one with --node')
    recorded = ', '.join(sorted(bag.topics)) or 'none'
    raise BagError(
        f'{path} has no terms of a node; its topics are {recorded}; record with: '
        f"ros2 bag record --regex '{chosen[0] if chosen else '/feedforward'}"
        "/(terms/.*|effort)|/joint_states'"
    )


def _labels(bag: Bag, node: str, topic: str | None) -> dict[str, str]:
    """Return the name of the effort on each topic."""
    labels = {
        name: match[2]
        for name in bag.topics
        if (match := TERM_TOPIC.fullmatch(name)) and match[1] == node
    }
    labels[f'{node}/effort'] = COMMANDED
    measured = topic or f'{node.rpartition("/")[0]}/joint_states'
    if topic is not None:
        bag.topic_with(JOINT_STATE, 'joint states', topic)
    labels[measured] = MEASURED
    return {name: what for name, what in labels.items() if bag.topics.get(name) == JOINT_STATE}


def _lines(
    rows: Mapping[tuple[str, tuple[str, ...]], Sequence[tuple[float, Array]]],
    joints: Sequence[str],
    start: float,
) -> dict[str, dict[str, Line]]:
    """Return efforts by name and joint; times count from a start, s."""
    parts: dict[str, dict[str, list[Line]]] = defaultdict(lambda: defaultdict(list))
    for (what, names), received in rows.items():
        time = np.array([when for when, _ in received]) - start
        efforts = np.array([row for _, row in received])
        for joint in joints:
            if joint in names:
                parts[what][joint].append(Line(time, efforts[:, names.index(joint)]))
    ordered = sorted(parts, key=lambda what: (ORDER.index(what) if what in ORDER else 99, what))
    return {
        what: {joint: _joined(pieces) for joint, pieces in parts[what].items()}
        for what in ordered
    }


def _joined(pieces: Sequence[Line]) -> Line:
    """Join lines of one effort, from messages with different joints, in order of time."""
    time = np.concatenate([piece.time for piece in pieces])
    order = np.argsort(time, kind='stable')
    return Line(time[order], np.concatenate([piece.effort for piece in pieces])[order])
