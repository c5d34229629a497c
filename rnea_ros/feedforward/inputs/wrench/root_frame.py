# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""A sensor's wrench in the root link's frame, fast enough for the control loop."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ....arrays import Array
from ....compilation import entry
from ....dynamics import Workspace
from ....dynamics.kernels import kinematics


class RootFrame:
    """
    Expresses wrenches in the root link's frame, about its origin.

    :param workspace: memory with the bodies' poses
    :param nq: number of joint positions
    """

    def __init__(self, workspace: Workspace, nq: int) -> None:
        self._bodies = workspace.bodies
        self._on_body, self._on_root = np.zeros((2, 6))
        self.wrench(np.zeros(nq), 1, np.eye(6), self._on_body)  # compiles before the loop starts

    def wrench(self, q: Array, body: int, to_body: Array, wrench: Array) -> Array:
        """
        Return [torque; force] in the root link's frame; the next call overwrites it.

        :param q: joint positions, shape (nq,), rad or m
        :param body: number of the body on which the wrench acts
        :param to_body: force transform from the sensor's frame to the body's, shape (6, 6)
        :param wrench: [torque; force] in the sensor's frame, shape (6,), N m and N
        """
        kinematics.place_bodies(self._bodies, q)
        np.matmul(to_body, wrench, out=self._on_body)
        _to_root(self._bodies, body, self._on_body, self._on_root)
        return self._on_root


@entry
def _to_root(bodies: NDArray[np.void], body: int, on_body: Array, on_root: Array) -> None:
    """Write f = R f_body and n = R n_body + p x f, with the pose R, p of the body's frame."""
    R, p = bodies[body]['R'], bodies[body]['p']
    for row in range(3):
        n = f = 0.0
        for k in range(3):
            n += R[row, k] * on_body[k]
            f += R[row, k] * on_body[3 + k]
        on_root[row], on_root[3 + row] = n, f
    on_root[0] += p[1] * on_root[5] - p[2] * on_root[4]
    on_root[1] += p[2] * on_root[3] - p[0] * on_root[5]
    on_root[2] += p[0] * on_root[4] - p[1] * on_root[3]
