# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""
Base parameters: the combinations of standard parameters that efforts depend on.

Columns of the regressor are taken from the base to the tip. A column that depends on those before
it is regrouped into them (Gautier, "Numerical calculation of the base inertial parameters of
robots", J. Robotic Systems 8(4), 1991): Y phi = Y_b (phi_b + C phi_d) with Y_d = Y_b C.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..arrays import Array, Indices
from ..dynamics.kernels import PARAMETERS
from ..robot import RobotModel

SAMPLES = 60  # random motions that the dependencies are found with
INDEPENDENT = 1e-7  # least part of an independent column that the columns before it do not explain
MAX_ROUNDING = 2e-3  # greatest sine of a tilt that is a rounded angle, as 3.14; others are meant
ROUNDING_FACTOR = 3.0  # least part of an independent column, in roundings; false ones have up to 2


@dataclass(frozen=True)
class BaseParameters:
    """
    The identifiable combinations of the parameters of the moving bodies and of the rotors.

    The motion of the first joint of an arm, for one, shows only the sum of its rotor's inertia and
    that of the bodies.
    """

    rank: int  #: their number, for the joints that moved and have efforts
    #: condition number of their regressor in the fitted runs, with columns of equal size; large if
    #: the motion excites some combinations poorly
    condition: float
    #: one readable line for each, such as ``my(link2) + 0.4 m(link3)``
    combinations: tuple[str, ...]
    #: the combinations of the standard parameters and the rotors' inertias, shape (rank, 10 *
    #: bodies + n)
    matrix: Array
    prior: Array  #: values of the URDF without rotors, shape (rank,)
    values: Array  #: identified values, shape (rank,)
    deviations: Array  #: their standard deviations, shape (rank,)


def combinations(
    model: RobotModel, q: Array, moving: Indices, measured: Indices, speed: float = 1.0
) -> Array:
    """
    Return the base parameters as combinations, shape (rank, 10 * bodies + n).

    The joints that do not move stay at ``q``, shape (n,). ``speed`` is a factor of velocities and
    accelerations, 0 for poses at rest.
    """
    random = np.random.default_rng(0)
    n = model.nv
    positions = np.tile(q, (SAMPLES, 1))
    velocities, accelerations = np.zeros((2, SAMPLES, n))
    size = (SAMPLES, len(moving))
    positions[:, moving] += random.uniform(-1.5, 1.5, size)
    velocities[:, moving] = speed * random.uniform(-2.0, 2.0, size)
    accelerations[:, moving] = speed * random.uniform(-5.0, 5.0, size)
    Y = model.regressor_batch(positions, velocities, accelerations)
    rotors = accelerations[:, :, np.newaxis] * np.eye(n)
    Y = np.concatenate([Y, rotors], axis=2)[:, measured].reshape(SAMPLES * len(measured), -1)
    scale = np.linalg.norm(Y, axis=0)
    largest = scale.max() if scale.size else 0.0
    # Axes that are parallel or square in the robot are not quite in a URDF with 1.5708 for pi / 2.
    tilts = np.abs(model.tree.bodies['E_T'])
    rounding = tilts[tilts < MAX_ROUNDING].max(initial=0.0)
    least = max(INDEPENDENT, ROUNDING_FACTOR * rounding)
    independent: list[int] = []
    directions = np.zeros((len(Y), 0))
    for column in np.flatnonzero(scale > least * largest):
        rest = Y[:, column] / scale[column]
        for _ in range(2):  # the second time removes the rounding errors of the first
            rest = rest - directions @ (directions.T @ rest)
        length = np.linalg.norm(rest)
        if length > INDEPENDENT and length * scale[column] > least * largest:
            independent.append(int(column))
            directions = np.column_stack([directions, rest / length])
    matrix = np.asarray(np.linalg.lstsq(Y[:, independent], Y, rcond=None)[0], dtype=np.float64)
    matrix[np.abs(matrix) * scale[independent, np.newaxis] < least * scale] = 0.0
    matrix[:, scale <= least * largest] = 0.0
    matrix[:, independent] = np.eye(len(independent))
    return matrix


def base_parameters(
    matrix: Array, model: RobotModel, factor: Array, parameters: Array, covariance: Array
) -> BaseParameters:
    """Return the base parameters of a fit; ``matrix`` has the combinations."""
    names = [f'{name}({body})' for body in model.body_names for name in PARAMETERS]
    names += [f'rotor({joint})' for joint in model.joint_names]
    prior = np.concatenate([model.inertial_parameters, np.zeros(model.nv)])
    # Y = Y_b matrix, so the regressor of the combinations consists of the independent columns.
    independent = [int(np.flatnonzero(row == 1.0)[0]) for row in matrix]
    columns = factor[:, independent]
    scaled = columns / np.maximum(np.linalg.norm(columns, axis=0), np.finfo(float).tiny)
    sizes = np.linalg.svd(scaled, compute_uv=False) if independent else np.ones(1)
    condition = float(sizes[0] / sizes[-1]) if sizes[-1] > 0.0 else np.inf
    variances = np.einsum('ij,jk,ik->i', matrix, covariance, matrix)
    return BaseParameters(
        len(matrix), condition,
        tuple(_in_words(*row, names) for row in zip(matrix, independent, strict=True)), matrix,
        matrix @ prior, matrix @ parameters, np.sqrt(np.maximum(variances, 0.0))
    )


def _in_words(row: Array, first: int, names: list[str]) -> str:
    """Return one combination as text, its independent parameter first."""
    text = names[first]
    for place in np.flatnonzero(row):
        if place == first:
            continue
        sign, size = '+' if row[place] > 0.0 else '-', abs(row[place])
        factor = '' if abs(size - 1.0) < 1e-6 else f'{size:.4g} '
        text += f' {sign} {factor}{names[place]}'
    return text
