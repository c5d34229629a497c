# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""A running Gazebo, by its own command line."""

from __future__ import annotations

import re
import shutil
import subprocess

from ...errors import RneaError

PROGRAMS = {'gz': 'gz', 'ign': 'ignition'}
"""Command lines of Gazebo, newer and older (Fortress), and the packages of their messages."""

TIMEOUT = 10.0  # of a command, s
ATTEMPTS = 3  # Gazebo's command line does not always find what runs


class GazeboError(RneaError):
    """Gazebo does not answer."""


def unpause() -> None:
    """Let the time of all worlds of the running Gazebo advance."""
    programs = [program for program in PROGRAMS if shutil.which(program)]
    for program in ATTEMPTS * programs:
        package = PROGRAMS[program]
        worlds = re.findall(r'^/world/[^/\s]+/control$', _run(program, '-l'), re.MULTILINE)
        for service in worlds:
            answer = _run(
                program, '-s', service, '--reqtype', f'{package}.msgs.WorldControl', '--reptype',
                f'{package}.msgs.Boolean', '--timeout', '5000', '--req', 'pause: false',
            )
            if 'true' not in answer:
                raise GazeboError(f'{service} of Gazebo does not answer: {answer.strip()!r}')
        if worlds:
            return
    raise GazeboError('no world is found with "gz service -l" or "ign service -l"')


def _run(program: str, *arguments: str) -> str:
    """Return what a command about Gazebo's services prints; nothing if it fails or hangs."""
    try:
        return subprocess.run(
            [program, 'service', *arguments], stdout=subprocess.PIPE, text=True, timeout=TIMEOUT,
            check=False,
        ).stdout
    except (OSError, subprocess.TimeoutExpired):
        return ''
