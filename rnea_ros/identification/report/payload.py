# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""The report of an identified payload."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ...command_line import text_table
from ..payload import PayloadFit


def payload_text(fit: PayloadFit, joints: Sequence[str]) -> str:
    """Return the report of a payload; joints are the model's names."""
    payload = fit.payload
    rows: list[tuple[str, ...]] = [('joint', 'without payload', 'with payload')]
    for name, *errors in zip(joints, fit.rms_without, fit.rms_with, strict=True):
        if np.isfinite(errors).all():
            rows.append((name, *(f'{error:.2f}' for error in errors)))
    return '\n'.join([
        f'payload on {payload.link}: {payload.mass:.2f} +- {fit.mass_deviation:.2f} kg',
        f'centre of mass x y z in the frame of {payload.link}, mm: '
        f'{_each(payload.com, 1000.0)} +- {_each(fit.com_deviation, 1000.0)}',
        'inertia: poses at rest do not show it; 0'
        if fit.at_rest
        else f'inertia xx xy xz yy yz zz about it, g m^2: '
        f'{_each(payload.inertia, 1000.0)} +- {_each(fit.inertia_deviation, 1000.0)}',
        '',
        'RMS error of the effort in the fitted run, N m or N',
        text_table(rows, left=(0,)),
    ])


def payload_json(fit: PayloadFit, joints: Sequence[str]) -> dict[str, Any]:
    """Return the figures of a payload for JSON."""
    payload = fit.payload
    return {
        'link': payload.link,
        'mass': [float(payload.mass), fit.mass_deviation],
        'com': [_list(payload.com), _list(fit.com_deviation)],
        'inertia': [_list(payload.inertia), _list(fit.inertia_deviation)],
        'joints': {
            name: {'without_payload': without, 'with_payload': with_payload}
            for name, without, with_payload in zip(
                joints, _list(fit.rms_without), _list(fit.rms_with), strict=True
            )
        },
    }


def _each(values: ArrayLike, factor: float) -> str:
    return ' '.join(f'{factor * value:.1f}' for value in np.asarray(values).tolist())


def _list(values: ArrayLike) -> list[float | None]:
    """Return numbers with None for NaN, which JSON lacks."""
    numbers: Iterable[float] = np.asarray(values, dtype=np.float64).tolist()
    return [number if np.isfinite(number) else None for number in numbers]
