# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""Parameters of the external effort and of contact, and the values of each joint."""

from __future__ import annotations

from dataclasses import dataclass, replace
import enum

import numpy as np
from numpy.typing import NDArray

from ...arrays import Array
from ...dynamics.kernels import BASE
from ...errors import InputError, brief
from ...parameters import EACH, parameter
from ...robot import RobotModel

DEFAULT_THRESHOLD_SHARE = 0.015  # default of contact.threshold, as a share of the effort limit


class EffortSource(enum.Enum):
    """Motor efforts from which the external effort is computed."""

    MEASURED = 'measured'    # of the joint states; the last command where they have none
    COMMANDED = 'commanded'  # the last command


class ContactAction(enum.Enum):
    """Reaction to a contact."""

    NONE = 'none'        # contact is not detected
    FLAG = 'flag'        # raise the flag contact
    HOLD = 'hold'        # also end the motion, and hold the position
    GRAVITY = 'gravity'  # also end the motion, and act like mode gravity


@dataclass(frozen=True)
class ExternalEffortSettings:
    """Parameters ``external_effort.*``."""

    gain: tuple[float, ...] = parameter(
        (50.0,), f'gain of the observer of external efforts, {EACH}, 1/s: its delay is 1 / gain',
        span=(0.1, 1000.0), while_active=True,
    )
    source: EffortSource = parameter(
        EffortSource.MEASURED, 'motor efforts: of the joint states if they have any, or commanded'
    )
    link: str = parameter('', 'link whose external wrench is published; empty: none')


@dataclass(frozen=True)
class ContactSettings:
    """Parameters ``contact.*``."""

    action: ContactAction = parameter(
        ContactAction.NONE, 'reaction to a contact', while_active=True
    )
    threshold: tuple[float, ...] = parameter(
        (0.0,),
        f'external effort that counts as contact, {EACH}, N m or N; 0: 1.5 % of effort_limits',
        span=(0.0, 1e6), while_active=True,
    )
    model_error: tuple[float, ...] = parameter(
        (0.1,),
        f'relative error of the model, {EACH}: this share of the efforts of gravity, motion and '
        'friction is added to contact.threshold',
        span=(0.0, 10.0), while_active=True,
    )


def with_default_threshold(contact: ContactSettings, effort_limits: Array) -> ContactSettings:
    """Return settings in which each of m thresholds is above 0."""
    given, default = np.array(contact.threshold), DEFAULT_THRESHOLD_SHARE * effort_limits
    return replace(contact, threshold=tuple(np.where(given > 0.0, given, default).tolist()))


def check_link(link: str, joint_indices: NDArray[np.intp], model: RobotModel) -> None:
    """Raise an InputError for a link that is unknown, or that no commanded joint moves."""
    if not link:
        return
    if link not in model.link_names:
        raise InputError(
            'external_effort.link',
            f'{brief(link)} is not a link of robot {model.name!r}; known are '
            f'{", ".join(model.link_names)}',
        )
    moving: set[int] = set()
    body = model.tree.frames[link].body
    while body != BASE:
        record = model.tree.bodies[body]
        moving.update(range(record['qd_index'], record['qd_index'] + record['qd_size']))
        body = int(record['parent'])
    if not moving & set(joint_indices.tolist()):
        raise InputError('external_effort.link', f'no commanded joint moves link {link!r}')
