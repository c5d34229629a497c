# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""Find files of the package: robots, parameters, launch files."""

from __future__ import annotations

from pathlib import Path
import sys

from .errors import RneaError


class ResourceError(RneaError):
    """A file of the package was not found."""


def share_path(relative: str) -> Path:
    """
    Return the path of a file below the package's share directory, in a checkout or installed.

    :raises ResourceError: the file does not exist; the message lists the paths tried
    """
    package = Path(__file__).parent
    candidates = [
        package.parent / relative,  # a checkout
        Path(sys.prefix, 'share', package.name, relative),  # pip
        *(  # colcon: <prefix>/lib/pythonX.Y/site-packages/rnea_ros
            parent / 'share' / package.name / relative for parent in package.parents[2:5]
        ),
    ]
    for candidate in candidates:
        if candidate.is_file():
            return candidate
    paths = ', '.join(str(candidate) for candidate in candidates)
    raise ResourceError(f'{relative} not found in {paths}')
