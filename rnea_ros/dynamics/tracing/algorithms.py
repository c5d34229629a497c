# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""
The kernels, run on expressions: what they compute for one tree, as a list of operations.

This module has no equations. A change in a kernel changes the code that it yields.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from ..kernels import BASE, Records, composite_dtype, crba, kinematics, rnea, vectors
from .expressions import Trace

Values: TypeAlias = NDArray[Any]
"""Expressions and constants."""

ROUNDING = 1e-15
"""Smaller numbers beside the largest one of an array are rounding errors: cos(pi/2) is 6e-17."""

ARGUMENTS = {
    'inverse_dynamics': ('q', 'qd', 'qdd'),
    'gravity_torques': ('q',),
    'bias_torques': ('q', 'qd'),
    'mass_matrix': ('q',),
}
"""Methods of :class:`TracedTree` that yield joint efforts or the mass matrix."""


class TracedTree:
    """
    A tree of bodies whose kernels yield expressions.

    The caller replaces constants in :attr:`bodies` by inputs of :attr:`trace`.

    :param bodies: bodies of the tree, on their base
    :param polynomials: whether sines and cosines become polynomials
    """

    def __init__(self, bodies: Records, *, polynomials: bool = False) -> None:
        self.trace = Trace(polynomials=polynomials)
        self.bodies = _of_objects(bodies)
        self._nv = int(bodies[BASE]['qd_index'])
        self._q = self.trace.inputs('q', int(bodies[BASE]['q_index']))
        self._qd, self._qdd = (self.trace.inputs(name, self._nv) for name in ('qd', 'qdd'))

    def inverse_dynamics(self) -> Values:
        """Return tau of q, qd, qdd, shape (nv,)."""
        return self._result((self._nv,), rnea.inverse_dynamics, self._q, self._qd, self._qdd)

    def gravity_torques(self) -> Values:
        """Return tau of q at rest, shape (nv,)."""
        return self._result((self._nv,), rnea.gravity_torques, self._q)

    def bias_torques(self) -> Values:
        """Return tau of q and qd where qdd is zero, shape (nv,)."""
        qdd = _zeros(self._nv)
        return self._result((self._nv,), rnea.inverse_dynamics, self._q, self._qd, qdd)

    def mass_matrix(self) -> Values:
        """Return M of q, shape (nv, nv)."""
        composites = _of_objects(np.zeros(len(self.bodies), dtype=composite_dtype()))
        return self._result((self._nv, self._nv), crba.mass_matrix, composites, self._q)

    def pose(self, body: int, frame: NDArray[np.float64]) -> Values:
        """Return the pose of a frame, (4, 3) as kernels take it, of a body: shape (4, 4)."""
        return self._result((4, 4), kinematics.frame_pose, body, *placement(frame), self._q)

    def jacobian(self, body: int, frame: NDArray[np.float64]) -> Values:
        """Return the Jacobian of a frame in its own axes, shape (6, nv)."""
        E_r = placement(frame)
        return self._result((6, self._nv), kinematics.frame_jacobian, body, *E_r, self._q)

    def _result(
        self, shape: tuple[int, ...], kernel: Callable[..., None], *arguments: Any
    ) -> Values:
        """Return the array that a kernel of the bodies writes."""
        array = _zeros(*shape)
        kernel(self.bodies, *arguments, array)
        return array


def placement(frame: NDArray[np.float64]) -> tuple[vectors.Matrix3, vectors.Vector3]:
    """Return E and r of a frame, (4, 3) as kernels take it."""
    E_r = _rounded(frame)
    return vectors.load33(E_r), vectors.load3(E_r[3])


def _rounded(values: NDArray[np.float64]) -> Values:
    """Return constants as floats; rounding errors become zeros, and ones."""
    cleaned = np.where(np.abs(values) < ROUNDING * np.abs(values).max(initial=0.0), 0.0, values)
    ones = np.abs(np.abs(cleaned) - 1.0) < ROUNDING
    return np.where(ones, np.sign(cleaned), cleaned).astype(object)


def _zeros(*shape: int) -> Values:
    return np.full(shape, 0.0, dtype=object)


def _of_objects(records: Records) -> Records:
    """Return records with objects in the place of floats."""
    fields = {name: records.dtype[name] for name in records.dtype.names or ()}
    floats = [name for name, field in fields.items() if field.base == np.float64]
    changed = records.astype([
        (name, object if name in floats else field.base, field.shape)
        for name, field in fields.items()
    ])
    for name in floats:
        for i, values in enumerate(records[name]):
            changed[name][i] = _rounded(values)[()]
    return changed
