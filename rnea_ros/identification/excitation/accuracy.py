# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""
Expected accuracy of what is identified from a motion, for a given noise of the efforts.

The covariance of the parameters is the inverse of the information matrix. Noise that passed a
low-pass filter with cut-off f has 2 f independent samples a second.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ...arrays import Array
from .criterion import Information, regressor

CUTOFF = 10.0
"""Cut-off frequency of the filter of the identification, Hz."""

PAYLOAD = 1.0
"""Mass of the payload, kg."""

PARAMETERS = 10
UNDETERMINED = 1e-10
"""Least eigenvalue of an information matrix of a determined parameter, by the largest."""


@dataclass(frozen=True, eq=False)
class Accuracy:
    """
    Standard deviations for white noise of the efforts.

    :param torque: of the efforts of an identified model on other motions, shape (n,), N m or N
    :param link: link that carries a payload
    :param mass: of the mass of a payload of 1 kg, with known arm and friction, kg; NaN if it
        cannot be determined
    :param com: of its centre of mass, the largest of x, y and z, m; NaN as for the mass
    """

    torque: Array
    link: str
    mass: float
    com: float


def accuracy(
    information: Information,
    motion: tuple[Array, Array, Array],
    others: Sequence[tuple[Array, Array, Array]],
    link: str,
    duration: float,
) -> Accuracy:
    """
    Return the expected accuracy.

    :param information: regressor of the robot, with the noise of the efforts
    :param motion: evenly spaced positions, velocities and accelerations, each of shape (N, n)
    :param others: motions whose efforts are predicted
    :param link: link for the payload, one of the model's bodies
    :param duration: of the motion, s
    """
    count = 2.0 * CUTOFF * duration
    model = information.model
    Y = regressor(model, *motion)
    covariance = np.linalg.inv(information.matrix(information.rows(Y, *motion[1:]))) / count
    variances = []
    for other in others:
        Z = information.rows(regressor(model, *other), *other[1:])
        variances.append(np.einsum('nip,pq,niq->ni', Z, covariance, Z, optimize=True).mean(axis=0))
    torque = information.noise * np.sqrt(np.mean(variances, axis=0))
    first = PARAMETERS * model.body_names.index(link)
    link_rows = Y[:, :, first : first + PARAMETERS] / information.noise[:, np.newaxis]
    deviations = _deviations(link_rows.reshape(-1, PARAMETERS), count / len(Y))
    return Accuracy(torque, link, float(deviations[0]), float(deviations[1:4].max()) / PAYLOAD)


def _deviations(rows: Array, weight: float) -> Array:
    """
    Return standard deviations of parameters; NaN for those that are not determined.

    :param rows: regressor, divided by the noise, shape (N, p)
    :param weight: independent samples per row
    """
    size = np.linalg.norm(rows, axis=0)
    scaled = rows / np.where(size > 0.0, size, 1.0)
    values, vectors = np.linalg.eigh(scaled.T @ scaled)
    known = values > UNDETERMINED * values.max()
    deviations = np.sqrt(((vectors[:, known] ** 2) / values[known]).sum(axis=1) / weight)
    deviations = deviations / np.where(size > 0.0, size, np.nan)
    unknown: Array = (vectors[:, ~known] ** 2).sum(axis=1)
    return np.where(unknown < np.sqrt(UNDETERMINED), deviations, np.nan)
