# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""The model of a tool, its collision model and settings; warnings are one line each."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
import sys

import numpy as np
from numpy.typing import ArrayLike

from ..arrays import Array
from ..collision import CollisionModel, CollisionsNotCheckedError, Wall, collision_model
from ..errors import InputError, UrdfError
from ..feedforward.settings import ResolvedSettings, complete_values, resolve, settings_from
from ..parameters import read_parameter_file
from ..robot import RobotModel
from ..urdf import parse_urdf, read_urdf

MAX_INERTIA = 1e12  # and greatest gravity effort, SI units; their squares still are numbers


def load_model(
    program: str, source: str | Path, gravity: ArrayLike, *, strict_inertia: bool = False
) -> RobotModel:
    """Return the model of a URDF, XML text or path of a file; warnings begin with the program."""
    description = parse_urdf(read_urdf(source), strict_inertia=strict_inertia)
    model = RobotModel.from_description(description, gravity=gravity)
    for warning in description.warnings:
        print(f'{program}: {warning}', file=sys.stderr)
    # Figures of the efforts of too large a model overflow.
    q = model.neutral_position
    try:
        numbers = np.append(model.mass_matrix(q), model.gravity_torques(q))
    except InputError:
        numbers = np.array([np.inf])
    if np.abs(numbers).max(initial=0.0) > MAX_INERTIA:
        raise UrdfError('URDF', 'masses or lengths are too large; they are in kg and m')
    return model


def collisions_of(
    model: RobotModel, urdf: Path, srdf: Path | None, walls: Sequence[Wall],
    links: Sequence[str] = ()
) -> tuple[CollisionModel | None, list[str]]:
    """Return the collision model of a URDF; None, and the reason, if there is none."""
    try:
        return collision_model(model, urdf, srdf, walls, links), []
    except CollisionsNotCheckedError as error:
        return None, [str(error)]


def joint_factors(given: Sequence[float] | None, model: RobotModel) -> Array:
    """Return the factors of ``--effort-scale``, shape (1,) or one per joint, shape (n,)."""
    factors = np.array(given or (1.0,))
    joints = len(model.joint_names)
    if factors.size not in (1, joints):
        raise InputError('--effort-scale', f'{factors.size} factors for {joints} joints')
    return factors


def load_settings(path: Path, model: RobotModel) -> ResolvedSettings:
    """Return the settings of a parameter file of the node, for a robot."""
    values = complete_values(read_parameter_file(path))
    return resolve(settings_from(values, model.joint_names), model)
