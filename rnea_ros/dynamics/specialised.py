# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""
Kernels of one tree, straight-line code with the constants of its bodies, and their workspace.

Results are those of the general kernels, except for rounding. The machine code is kept on disk
under a digest of the computation.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property, partial
import hashlib
import math
from typing import Any
import warnings

import numpy as np

from ..arrays import Array
from ..compilation import COMPILED, batch_entry, entry, entry_point, from_template
from ..errors import InputError, SpecialisationWarning
from .batch import NO_BAD_SAMPLE
from .kernels import BASE, LANES, MAX_ANGLE, Records
from .self_test import require_nan_detection
from .tracing import ARGUMENTS, Expression, TracedTree, Value, Values, needed
from .tree import KinematicTree, RigidBodyInertia
from .workspace import Workspace

MAX_BODIES = 20
"""Largest number of moving bodies; inverse dynamics of 20 compile in 1.5 s of processor time."""

NQ = NV = 0
"""Numbers of positions and velocities; each kernel has its own in its globals."""


def compute(arrays: tuple[Array, ...], result: Array, row: int) -> bool:
    """Write a computation into the result; each kernel has its own function in its globals."""
    return False


def of_motion(result: Array, q: Array, qd: Array, qdd: Array) -> Array:
    """Return result with what depends on a motion; NaN if a length or number is not valid."""
    fits = q.shape[0] == NQ and qd.shape[0] == NV and qdd.shape[0] == NV
    if not (fits and compute((q, qd, qdd), result, 0)):
        result[:] = math.nan
    return result


def of_position(result: Array, q: Array) -> Array:
    """Return result with what depends on a position; NaN if a length or number is not valid."""
    if not (q.shape[0] == NQ and compute((q,), result, 0)):
        result[:] = math.nan
    return result


def of_motion_and_bodies(bodies: Array, result: Array, q: Array, qd: Array, qdd: Array) -> Array:
    """Return as of_motion; the present numbers of the bodies count."""
    fits = q.shape[0] == NQ and qd.shape[0] == NV and qdd.shape[0] == NV
    if not (fits and compute((bodies, q, qd, qdd), result, 0)):
        result[:] = math.nan
    return result


def of_position_and_bodies(bodies: Array, result: Array, q: Array) -> Array:
    """Return as of_position; the present numbers of the bodies count."""
    if not (q.shape[0] == NQ and compute((bodies, q), result, 0)):
        result[:] = math.nan
    return result


def of_motions(Results: Array, Q: Array, QD: Array, QDD: Array) -> int:
    """Write rows of Results; return the first row of lanes that are not valid, or not full."""
    full = Q.shape[0] - Q.shape[0] % LANES
    for row in range(0, full, LANES):
        if not compute((Q, QD, QDD), Results, row):
            return row
    return full if full < Q.shape[0] else NO_BAD_SAMPLE


TEMPLATES: dict[str, tuple[Callable[..., Array], Callable[..., Array]]] = {
    'inverse_dynamics': (of_motion, of_motion_and_bodies),
    'gravity_torques': (of_position, of_position_and_bodies),
    'mass_matrix': (of_position, of_position_and_bodies),
}
"""For constant bodies, and for others: one argument fewer saves a tenth of the time."""


def can_specialise(bodies: Records) -> bool:
    """Return whether kernels of a tree can be compiled in seconds; if not, warn."""
    if COMPILED and len(bodies) - 1 <= MAX_BODIES:
        return True
    reason = f'more than {MAX_BODIES} moving bodies' if COMPILED else 'no numba'
    warnings.warn(f'general kernels are used: {reason}', SpecialisationWarning, stacklevel=5)
    return False


class SpecialisedKernels:
    """
    Creates kernels of one tree.

    :param bodies: bodies of a workspace, on their base
    :param changing: fields of bodies that kernels read at each call, by the body's number; all
        others are constants
    """

    def __init__(self, bodies: Records, changing: Mapping[int, Sequence[str]]) -> None:
        self._memory = (bodies.view(np.float64),) if changing else ()
        self._nq, self._nv = int(bodies[BASE]['q_index']), int(bodies[BASE]['qd_index'])
        self._tree = TracedTree(bodies, polynomials=True)
        floats = self._tree.trace.inputs('bodies', bodies.nbytes // np.dtype(float).itemsize)
        places = np.arange(len(floats), dtype=float).view(bodies.dtype)
        for body, fields in changing.items():
            for field in fields:
                self._tree.bodies[body][field] = floats[places[body][field].astype(int)]

    def kernel(self, method: str, result: Array) -> Callable[..., Array]:
        """Return a function of one sample, by a key of :data:`TEMPLATES`, that writes a result."""
        template = TEMPLATES[method][len(self._memory)]
        return partial(self._compiled(method, template, result), *self._memory, result)

    def inverse_dynamics_batch(self) -> Callable[..., int]:
        """Return a kernel of the inverse dynamics of many samples: Q, QD, QDD, Tau."""
        kernel = self._compiled('inverse_dynamics', of_motions, np.empty((LANES, self._nv)))
        return lambda Q, QD, QDD, Tau: kernel(Tau, Q, QD, QDD)

    def _compiled(
        self, method: str, template: Callable[..., Any], result: Array
    ) -> Callable[..., Any]:
        """Return a template's machine code, checked."""
        memory, batch = self._memory, template is of_motions
        sizes = {name: self._nq if name == 'q' else self._nv for name in ARGUMENTS[method]}
        compute, digest = self._machine_code(getattr(self._tree, method)(), sizes, in_rows=batch)
        name = f'{method}{"_batch" if batch else ""}_{digest}'
        numbers: dict[str, Any] = {'NQ': self._nq, 'NV': self._nv, 'compute': compute}
        function = from_template(template, name, **numbers)
        given = [np.full((LANES, size) if batch else size, 0.5) for size in sizes.values()]
        jitted = batch_entry(function) if batch else entry(function)
        kernel = entry_point(jitted, (*memory, result, *given))

        def valid() -> bool:
            returned = kernel(*memory, result, *given)
            return bool(returned == NO_BAD_SAMPLE if batch else np.isfinite(returned).all())

        if self._nv:
            require_nan_detection(name, valid, *given)
        return kernel

    def _machine_code(
        self, results: Values, sizes: Mapping[str, int], *, in_rows: bool
    ) -> tuple[Callable[..., bool], str]:
        """Return a function that writes results, and its digest; the bodies come first."""
        from ..compilation import straight_line as machine_code

        given = [x for name, n in sizes.items() for x in self._tree.trace.inputs(name, n)]
        steps = needed([*given, *results.flat])
        inputs = [step for step in steps if step.operation == 'input']  # they were made first
        number = {step: i for i, step in enumerate(steps)}

        def operand(value: Value) -> int | float:
            return number[value] if isinstance(value, Expression) else float(value)

        order = (*['bodies'] * len(self._memory), *sizes)
        line = machine_code.StraightLine(
            [(order.index(name), index) for name, index in (x.arguments for x in inputs)],
            [x.arguments[0] == 'q' for x in inputs],
            MAX_ANGLE**2,
            [(step.operation, [operand(x) for x in step.arguments])
             for step in steps[len(inputs):]],
            [operand(x) for x in results.flat],
        )
        digest = hashlib.sha256(repr((self._nq, self._nv, line)).encode()).hexdigest()[:16]
        widths = (*sizes.values(), self._nv) if in_rows else ()
        return machine_code.straight_line(line, widths), digest


class SpecialisedWorkspace(Workspace):
    """
    A workspace with kernels of its own for inverse dynamics, gravity and mass matrix.

    Results are those of a :class:`Workspace`, except for rounding. Numbers that are not finite and
    angles above 1e6 rad give NaN. Everything else is general, and so is the whole workspace of a
    tree that is too large, or without numba; a
    :class:`~rnea_ros.errors.SpecialisationWarning` says so.

    :param tree: the tree
    :param base: gravity, velocity and acceleration of the base, as for :meth:`set_base_motion`
    :param payloads: links that :meth:`set_payload` can load
    :param wrenches: links whose bodies external forces can act on
    :param moving_base: whether :meth:`set_base_motion` can be used
    :ivar specialised: whether it has kernels of its own
    """

    def __init__(
        self, tree: KinematicTree, base: tuple[Array, Array, Array], *,
        payloads: Iterable[str] = (), wrenches: Iterable[str] = (), moving_base: bool = False,
    ) -> None:
        self._base_is_constant = False
        super().__init__(tree, base[0])
        self.set_base_motion(*base)
        self._base_is_constant = not moving_base
        self._tree = tree
        self._payloads = dict.fromkeys(payloads, RigidBodyInertia.zero())
        self._forced = {tree.frames[link].body for link in wrenches}
        self.external_forces = self._f_ext.view()
        self.external_forces.setflags(write=False)
        self.specialised = can_specialise(tree.bodies)
        if not self.specialised:
            return
        changing = {body: ['f_ext'] for body in self._forced}
        for link in self._payloads:
            changing.setdefault(tree.frames[link].body, []).extend(('mass', 'h', 'J'))
        if moving_base:
            changing[BASE] = ['v', 'a']
        self._kernels = SpecialisedKernels(self.bodies, changing)
        self.inverse_dynamics = self._kernels.kernel('inverse_dynamics', self._tau)
        self.gravity_torques = self._kernels.kernel('gravity_torques', self._tau)

    @cached_property
    def mass_matrix(self) -> Callable[[Array], Array]:
        """Return M(q), shape (nv, nv); overwritten by the next call."""
        if not self.specialised:
            return super().mass_matrix
        return self._kernels.kernel('mass_matrix', self._M)

    def set_base_motion(self, gravity: Array, velocity: Array, acceleration: Array) -> None:
        """Set the motion of the base, if it is an input of the kernels."""
        if self._base_is_constant:
            raise InputError('moving_base', 'the motion of the base is a constant here')
        super().set_base_motion(gravity, velocity, acceleration)

    def set_payload(self, link: str, inertia: RigidBodyInertia) -> None:
        """Replace the payload of a link; the inertia is about the link's origin, in its axes."""
        if link not in self._payloads:
            raise InputError('payloads', f'the inertia of link {link!r} is a constant here')
        self._payloads[link] = inertia
        frames, body = self._tree.frames, self._tree.frames[link].body
        alone, loaded = self._tree.bodies[body], self.bodies[body]
        total = RigidBodyInertia(alone['mass'], alone['h'], alone['J'])
        for name, payload in self._payloads.items():
            if frames[name].body == body:
                total += payload.transformed(frames[name].placement)
        loaded['mass'], loaded['h'], loaded['J'] = total.mass, total.h, total.J

    def add_external_force(self, body: int, moment: Array, force: Array) -> None:
        """Add an external force on the body of a link for wrenches; arguments as there."""
        if body not in self._forced:
            raise InputError('wrenches', f'external forces on body {body} are zero here')
        super().add_external_force(body, moment, force)
