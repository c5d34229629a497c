# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""Which joint to move further or faster, so that the next recording determines more."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ...arrays import Array
from ..result import Identification

SAMPLES = 40  # samples of the recording in which one joint moves otherwise
MUCH = 4.0  # variance of predicted efforts, over that in the recorded motion, above which it helps

RANGE_SHARE, SPEED_SHARE = 0.9, 0.5
"""Shares of a joint's range and velocity limit that an exciting motion may use."""

ENOUGH = 0.7  # share of a possible motion that needs no more
MAX_ACCELERATION = 10.0  # greatest acceleration that is advised, rad/s^2 or m/s^2
MOST = 3  # most motions that are advised
GOLDEN_ANGLE = 2.4  # phase between samples of a sine that covers a range evenly, rad

MAX_CONDITION = 100.0
"""Condition of the base parameters above which a motion excites some of them poorly."""


def advice(result: Identification) -> Iterator[str]:
    """Yield changes for the next recording: a joint over its range, or as fast as it may."""
    model, fitted = result.prior, result.fitted
    q, qd, qdd = (
        np.concatenate([getattr(run, name) for run in fitted]) for name in ('q', 'qd', 'qdd')
    )
    recorded = np.array([q, qd, qdd])[:, :: 1 + len(q) // SAMPLES]
    wave = np.sin(GOLDEN_ANGLE * np.arange(recorded.shape[1]))
    joints = {name for run in fitted for name in run.joints}
    helps: list[tuple[float, str]] = []

    def consider(joint: int, which: int, values: Array, text: str) -> None:
        changed = recorded.copy()
        changed[which, :, joint] = values
        helps.append((_uncertainty(result, changed), text))

    for k, name in enumerate(model.joint_names):
        if name not in joints:
            continue
        lower, upper = model.position_lower[k], model.position_upper[k]
        if model.continuous[k] or not upper - lower < 2.0 * np.pi:
            lower, upper = q[:, k].mean() + np.array([-np.pi, np.pi])
        reach, travel = RANGE_SHARE * (upper - lower), float(np.ptp(q[:, k]))
        if travel < ENOUGH * reach:
            consider(
                k, 0, (lower + upper + reach * wave) / 2.0,
                f'{name}: move over {reach:.2g} rad or m (recorded: {travel:.2g})'
            )
        speed, peak = SPEED_SHARE * model.velocity_limits[k], float(np.abs(qdd[:, k]).max())
        possible = min(2.0 * speed**2 / reach, MAX_ACCELERATION)
        if qd.any() and peak < ENOUGH * possible:
            consider(
                k, 2, possible * wave,
                f'{name}: accelerate up to {possible:.2g} rad/s^2 or m/s^2 (recorded: {peak:.2g})'
            )
        if qd.any() and qd[:, k].min() * qd[:, k].max() >= 0.0:
            yield f'{name}: move in both directions'
    now = _uncertainty(result, recorded)
    yield from [text for much, text in sorted(helps, reverse=True)[:MOST] if much > MUCH * now]
    if result.base.condition > MAX_CONDITION:
        yield (
            f'the condition is {result.base.condition:.0f}: a motion by `excite` tells the '
            'parameters apart better'
        )


def _uncertainty(result: Identification, motion: Array) -> float:
    """Return the mean variance of the model's efforts in a motion, over that of its errors."""
    Y = result.prior.regressor_batch(*motion)
    variance = np.einsum('...i,ij,...j->...', Y, result.covariance, Y).mean(axis=0)
    return float(np.nanmean(variance / result.comparison.identified.rms**2))
