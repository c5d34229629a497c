# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""Parameters ``payload.*``: one list each, with the values of all payloads."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ...errors import InputError, brief
from ...parameters import declarations_of, parameter
from ...robot import Payload, RobotModel

MAX_PAYLOADS = 16
"""Maximum number of payloads; more on one robot are a mistake."""

_WIDTHS = {'mass': 1, 'com': 3, 'inertia': 6}
"""Number of values per payload."""


@dataclass(frozen=True)
class PayloadSettings:
    """Parameters ``payload.*``: one list each, with the values of all payloads."""

    link: tuple[str, ...] = parameter(('',), 'links that carry a payload', while_active=True)
    mass: tuple[float, ...] = parameter(
        (0.0,), 'mass of each payload, kg', span=(0.0, 1e4), while_active=True
    )
    com: tuple[float, ...] = parameter(
        (0.0, 0.0, 0.0), 'centre of mass of each payload in its link frame, three values each, m',
        span=(-100.0, 100.0), while_active=True,
    )
    inertia: tuple[float, ...] = parameter(
        (0.0,) * 6,
        'inertia of each payload about its centre of mass, in link axes, xx xy xz yy yz zz each, '
        'kg m^2; zeros: point masses',
        span=(-1e6, 1e6), while_active=True,
    )

    def payloads(self) -> tuple[Payload, ...]:
        """Return the payloads; InputError for the first parameter that cannot be used."""
        links = [link for link in self.link if link]
        parts = {}
        for name, width in _WIDTHS.items():
            numbers = list(getattr(self, name))
            if links and not any(numbers):
                numbers = [0.0] * (width * len(links))
            if links and len(numbers) != width * len(links):
                raise InputError(
                    f'payload.{name}',
                    f'{brief(numbers)} has {len(numbers)} values, '
                    f'not {width} for each of {len(links)} links',
                )
            parts[name] = [tuple(numbers[width * k : width * (k + 1)]) for k in range(len(links))]
        payloads = []
        for link, (mass,), com, inertia in zip(links, *parts.values(), strict=True):
            try:
                payloads.append(Payload(link, mass, com, inertia))
            except InputError as error:
                name = error.argument.replace(' ', '.')
                raise InputError(name, f'link {brief(link)}: {error.reason}') from error
        return tuple(payloads)


def check_payloads(payloads: Sequence[Payload], model: RobotModel) -> None:
    """Raise an InputError for the first parameter that cannot be used with a robot."""
    if len(payloads) > MAX_PAYLOADS:
        raise InputError('payload.link', f'{len(payloads)} are more than {MAX_PAYLOADS}')
    declarations = declarations_of(PayloadSettings, 'payload.')
    for payload in payloads:
        if payload.link not in model.link_names:
            known = ', '.join(model.link_names)
            raise InputError(
                'payload.link', f'{brief(payload.link)} is not a link; known are {known}'
            )
        for part in _WIDTHS:
            name, numbers = f'payload.{part}', np.asarray(getattr(payload, part)).ravel().tolist()
            declarations[name].check(name, numbers)
