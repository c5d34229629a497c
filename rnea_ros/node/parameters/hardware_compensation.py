# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""The parameter ``hardware_compensates``, which must be stated."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ...errors import InputError, brief
from ...feedforward.loaded_model import HardwareCompensation

NOTHING = 'none'  # value for a robot whose own controller adds nothing


def missing_hardware_compensates(values: Mapping[str, Any]) -> str:
    """Return why the node must not command while the parameter is not stated; empty if it is."""
    if any(values['hardware_compensates']):
        return ''
    return (
        'hardware_compensates is not stated. Arms of Franka, Universal Robots and KUKA add '
        'gravity to every command; if the commands include gravity too, the arm jumps upward. Set '
        f"hardware_compensates to what this robot adds, or to ['{NOTHING}'], or launch with the "
        "arm's preset:="
    )


def compensated(given: Sequence[str]) -> tuple[HardwareCompensation, ...]:
    """Return what the hardware compensates; raise an InputError for words that make no sense."""
    known = {part.value: part for part in HardwareCompensation}
    stated = [word for word in given if word]
    for word in stated:
        if word not in (*known, NOTHING):
            raise InputError(
                'hardware_compensates', f'{brief(word)} is none of {", ".join((NOTHING, *known))}'
            )
    if NOTHING not in stated:
        return tuple(known[word] for word in dict.fromkeys(stated))
    if set(stated) != {NOTHING}:
        raise InputError('hardware_compensates', f'{brief(stated)}: {NOTHING} stands alone')
    return ()
