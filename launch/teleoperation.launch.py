# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""Start the teleoperation of two arms, whose feedforward nodes run in their namespaces."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from launch import LaunchDescription

from rnea_ros.launch_arguments import (
    enclave,
    existing_file,
    launch_description,
    process,
    words,
)

ARGUMENTS = {
    'leader': ('leader', 'namespace of the arm that is moved by hand'),
    'follower': ('follower', 'namespace of the arm that follows'),
    'joints': ('', 'joints of the follower, comma-separated; empty: as in params_file'),
    'feedback': ('', 'what the leader feels; empty: as in params_file'),
    'params_file': ('', "parameter file; empty: the package's config/teleoperation.yaml"),
    'enclaves': ('', 'root of the SROS2 enclaves, such as /rnea_ros; empty: the default enclave'),
}

CHOICES = {'feedback': ('', 'none', 'external_effort', 'coupling')}


def nodes(arguments: dict[str, str], share: Path) -> list[Any]:
    """Return the node teleoperation."""
    default = str(share / 'config/teleoperation.yaml')
    params_file = existing_file('params_file', arguments['params_file'] or default)
    overrides: dict[str, Any] = {name: arguments[name] for name in ('leader', 'follower')}
    if arguments['joints']:
        overrides['joints'] = words(arguments['joints'])
    if arguments['feedback']:
        overrides['feedback.source'] = arguments['feedback']
    return [
        process(
            'rnea_ros', 'teleoperation', name='teleoperation', output='screen',
            parameters=[str(params_file), overrides],
            ros_arguments=enclave(arguments['enclaves'], 'teleoperation'),
        )
    ]


def generate_launch_description() -> LaunchDescription:
    return launch_description(ARGUMENTS, CHOICES, nodes)
