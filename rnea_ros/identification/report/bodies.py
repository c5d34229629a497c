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
    """
    One quantity of a body.

    :param urdf: value or values in the URDF
    :param identified: identified value or values
    :param deviation: their standard deviations
    :param from_data: how many of the standard parameters behind it the data determine, of how many
    """

    urdf: tuple[float, ...]
    identified: tuple[float, ...]
    deviation: tuple[float, ...]
    from_data: tuple[int, int]


@dataclass(frozen=True)
class BodyChange:
    """
    A link behind a moving joint, with the links fixed to it.

    :param links: names of the links, that behind the joint first
    :param mass: kg
    :param centre: centre of mass in the frame of the first link, m
    :param inertia: xx, xy, xz, yy, yz, zz about the centre of mass in the axes of the first link,
        kg m^2
    :param undetermined: standard parameters that stayed as in the URDF, as the data do not
        determine them
    :param invisible: standard parameters that have no effect on any effort
    """

    links: tuple[str, ...]
    mass: QuantityChange
    centre: QuantityChange
    inertia: QuantityChange
    undetermined: tuple[str, ...]
    invisible: tuple[str, ...]


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
