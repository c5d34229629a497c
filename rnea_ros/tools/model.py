# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""The model for a command: what is not physical in it is told in one line each."""

from __future__ import annotations

from pathlib import Path
import sys
import warnings

from numpy.typing import ArrayLike

from ..errors import UrdfWarning
from ..robot import RobotModel


def load_model(
    program: str, source: str | Path, gravity: ArrayLike, *, strict_inertia: bool = False
) -> RobotModel:
    """
    Return the model of a URDF.

    :param program: the command's name, for the warnings
    :param source: XML text, or the path of a file
    :param gravity: in the root link's frame, shape (3,), m/s^2
    :param strict_inertia: refuse an inertia that no rigid body has
    :raises UrdfError: what cannot be used
    """
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter('always', UrdfWarning)
        model = RobotModel.from_urdf(source, gravity=gravity, strict_inertia=strict_inertia)
    for warning in caught:
        print(f'{program}: {warning.message}', file=sys.stderr)
    return model
