# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""What changed in the URDF: mass, centre of mass and inertia of each moving body."""

from __future__ import annotations

from dataclasses import dataclass

from ...arrays import Array
from ...dynamics.kernels import PARAMETERS
from ..pseudo_inertia import about_centre, deviations_about_centre
from ..result import Identification, ParameterOrigin

NAMES = ('mass', *PARAMETERS[1:])  # the ten standard parameters of a body, in their order

GROUPS = {'mass': slice(0, 1), 'centre': slice(1, 4), 'inertia': slice(4, 10)}


@dataclass(frozen=True)
class QuantityChange:
    """One quantity of a body."""

    urdf: tuple[float, ...]  # value or values in the URDF
    identified: tuple[float, ...]  # identified value or values
    deviation: tuple[float, ...]  # their standard deviations
    from_data: tuple[int, int]  # parameters behind it that the data determine, of how many


@dataclass(frozen=True)
class BodyChange:
    """A link behind a moving joint, with the links fixed to it."""

    links: tuple[str, ...]  # names of the links, that behind the joint first
    mass: QuantityChange  # kg
    centre: QuantityChange  # centre of mass in the frame of the first link, m
    inertia: QuantityChange  # xx, xy, xz, yy, yz, zz about the centre, first link's axes, kg m^2
    undetermined: tuple[str, ...]  # standard parameters that the data leave as in the URDF
    invisible: tuple[str, ...]  # standard parameters that have no effect on any effort


def bodies(result: Identification) -> tuple[BodyChange, ...]:
    """Return all moving bodies of a result."""
    prior, changes = result.prior, []
    frames, before = prior.tree.frames, prior.inertial_parameters
    for number, name in enumerate(prior.body_names):
        part = slice(len(NAMES) * number, len(NAMES) * (number + 1))
        fixed = [link for link, frame in frames.items() if frame.body == frames[name].body]
        changes.append(_body(
            (name, *(link for link in fixed if link != name)), before[part],
            result.parameters[part], result.covariance[part, part], result.origin[part],
        ))
    return tuple(changes)


def _body(
    links: tuple[str, ...], before: Array, after: Array, covariance: Array,
    origin: tuple[ParameterOrigin, ...],
) -> BodyChange:
    urdf, identified = about_centre(before), about_centre(after)
    spread = deviations_about_centre(after, covariance)
    quantities = {
        group: QuantityChange(
            tuple(urdf[part].tolist()),
            tuple(identified[part].tolist()),
            tuple(spread[part].tolist()),
            (origin[part].count(ParameterOrigin.DATA), len(origin[part])),
        )
        for group, part in GROUPS.items()
    }

    def named(what: ParameterOrigin) -> tuple[str, ...]:
        return tuple(name for name, each in zip(NAMES, origin, strict=True) if each is what)

    return BodyChange(
        links, **quantities, undetermined=named(ParameterOrigin.PRIOR),
        invisible=named(ParameterOrigin.NOTHING)
    )
