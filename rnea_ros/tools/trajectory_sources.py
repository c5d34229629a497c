# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""
Trajectories in files, without ROS: YAML as ``ros2 topic echo`` writes it, or a bag.

The joint names of a file may differ from those of a model in one prefix.
"""

from __future__ import annotations

from collections.abc import Generator
from contextlib import closing
from dataclasses import replace
from itertools import islice
import json
import os.path
from pathlib import Path
from typing import Any

from ..errors import RneaError, clipped
from ..feedforward.motion import TrajectoryPoint, TrajectoryRequest
from ..messages import MalformedError, decode_trajectory
from ..recordings import SUFFIXES, RecordingError, match_joints, open_bag
from ..robot import RobotModel
from ..yaml_files import read_yaml

MESSAGE_TYPE = 'trajectory_msgs/msg/JointTrajectory'

FIELDS = ('positions', 'velocities', 'accelerations', 'effort')


class TrajectoryFileError(RneaError):
    """A file without the requested trajectory."""


def read_trajectory(path: Path, topic: str | None, index: int) -> TrajectoryRequest:
    """
    Read a trajectory, by its index from 0, from a bag (directory, ``.db3``, ``.mcap``) or YAML.

    Without a topic it is on the only topic of a bag with trajectories.
    """
    if not os.path.exists(path):
        raise TrajectoryFileError(f'{path} does not exist')
    is_bag = path.is_dir() or path.suffix in SUFFIXES
    found = _of_bag(path, topic) if is_bag else _of_yaml(path)
    with closing(found):
        requests = list(islice(found, index + 1))
    if len(requests) <= index:
        raise TrajectoryFileError(
            f'{path} has {len(requests)} trajectories; there is none with index {index}'
        )
    return requests[index]


def trajectory_text(request: TrajectoryRequest) -> str:
    """Return a trajectory as YAML: all fields but efforts, which it must have at every point."""
    lines = [f'joint_names: [{", ".join(map(json.dumps, request.joint_names))}]', 'points:']
    for point, time in enumerate(request.times):
        nanoseconds = round(1e9 * time)
        lines += [
            f'{"-" if field == "positions" else " "} {field}: '
            f'[{", ".join(f"{value:.10f}" for value in getattr(request, field).of_point(point))}]'
            for field in ('positions', 'velocities', 'accelerations')
        ]
        lines.append(f'  time_from_start: {{sec: {nanoseconds // 10**9}, '
                     f'nanosec: {nanoseconds % 10**9}}}')
    return '\n'.join([*lines, ''])


def _of_bag(path: Path, topic: str | None) -> Generator[TrajectoryRequest, None, None]:
    with open_bag(path) as bag:
        chosen = bag.topic_with(MESSAGE_TYPE, 'trajectories', topic)
        for topic, received, data in bag.raw_messages([chosen]):
            try:
                yield decode_trajectory(data)
            except MalformedError as error:
                raise bag.broken_message(topic, received) from error


def _of_yaml(path: Path) -> Generator[TrajectoryRequest, None, None]:
    for number, document in enumerate(read_yaml(path)):
        if document is not None:  # ros2 topic echo ends with a line of dashes
            yield _message(document, f'{path}, document {number}')


def _message(document: Any, where: str) -> TrajectoryRequest:
    """Return the request in a YAML document."""
    fields = _mapping(document, where, ('header', 'joint_names', 'points'))
    names = _list(fields.get('joint_names'), f'{where}: joint_names')
    if not all(isinstance(name, str) for name in names):
        other = next(name for name in names if not isinstance(name, str))
        raise TrajectoryFileError(f'{where}: joint_names: {_shown(other)} is not a name')
    points = [
        _point(point, f'{where}: point {number}')
        for number, point in enumerate(_list(fields.get('points'), f'{where}: points'))
    ]
    header = _mapping(fields.get('header') or {}, f'{where}: header', ('stamp', 'frame_id', 'seq'))
    stamp = _time(header.get('stamp') or {}, f'{where}: stamp')
    return TrajectoryRequest.of_points(tuple(names), points, stamp or None)


def _point(document: Any, where: str) -> TrajectoryPoint:
    fields = _mapping(document, where, (*FIELDS, 'time_from_start'))
    if 'time_from_start' not in fields:
        raise TrajectoryFileError(f'{where}: time_from_start is missing')
    values = [_numbers(fields.get(field), f'{where}: {field}') for field in FIELDS]
    return TrajectoryPoint(_time(fields['time_from_start'], f'{where}: time_from_start'), *values)


def _time(document: Any, where: str) -> float:
    fields = _mapping(document, where, ('sec', 'nanosec'))
    return _number(fields.get('sec', 0), where) + 1e-9 * _number(fields.get('nanosec', 0), where)


def _mapping(document: Any, where: str, known: tuple[str, ...]) -> dict[str, Any]:
    if not isinstance(document, dict):
        fields = ', '.join(known)
        raise TrajectoryFileError(f'{where}: {_shown(document)} is not a mapping of {fields}')
    unknown = [key for key in document if key not in known]
    if unknown:
        fields = ', '.join(known)
        raise TrajectoryFileError(f'{where}: {_shown(unknown[0])} is not one of {fields}')
    return document


def _list(document: Any, where: str) -> list[Any]:
    if not isinstance(document, list):
        raise TrajectoryFileError(f'{where}: {_shown(document)} is not a list')
    return document


def _numbers(document: Any, where: str) -> list[float]:
    """Return the values of a field; an empty list for an absent field."""
    values = [] if document is None else _list(document, where)
    return [_number(value, where) for value in values]


def _number(value: Any, where: str) -> float:
    if isinstance(value, bool) or not isinstance(value, (int, float, str)):
        raise TrajectoryFileError(f'{where}: {_shown(value)} is not a number')
    try:
        return float(value)  # in YAML 1.1, 1e-3 and nan are text
    except (ValueError, OverflowError):
        raise TrajectoryFileError(f'{where}: {_shown(value)} is not a number') from None


def _shown(value: Any) -> str:
    for kind, word in ((list, 'a list'), (dict, 'a mapping'), (type(None), 'an empty value')):
        if isinstance(value, kind):
            return word
    text = f"'{value}'" if isinstance(value, str) else str(value)
    return text if len(text) <= 40 else f'{text[:40]}...'


def with_model_names(
    model: RobotModel, request: TrajectoryRequest
) -> tuple[TrajectoryRequest, tuple[str, ...]]:
    """Return a trajectory with the model's joint names where they match, and remarks on them."""
    try:
        matched = match_joints(model.joint_names, request.joint_names)
    except RecordingError:
        return request, ()
    names = {given: name for name, given in matched.items()}
    renamed = tuple(names.get(name, name) for name in request.joint_names)
    if renamed == request.joint_names:
        return request, ()
    pairs = [f'{given} is {name}' for given, name in names.items() if given != name]
    differ = clipped(', '.join(pairs))
    note = f'joint names differ from the URDF ({differ}); a node with that URDF rejects them'
    return replace(request, joint_names=renamed), (note,)
