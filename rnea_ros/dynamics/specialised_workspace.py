# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""A workspace whose kernels are compiled for one tree."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import cached_property

from ..arrays import Array
from ..errors import InputError
from .kernels import BASE
from .specialised_kernels import SpecialisedKernels, can_specialise
from .tree import KinematicTree, RigidBodyInertia
from .workspace import Workspace


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
        """
        Replace the payload of a link.

        :param link: one of the links for payloads
        :param inertia: of the payload, about the link's origin, in its coordinates
        """
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
