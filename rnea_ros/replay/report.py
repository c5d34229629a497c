# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""What a replay tells as text: residuals, limits, states, refusals, flaws of the recording."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
import math

import numpy as np
from numpy.typing import NDArray

from ..feedforward import Reason, State
from ..feedforward.law import HardwareCompensation, Mode
from ..preflight import lay_out
from .residuals import Residual
from .review import Review

HEADER = ('gravity', 'inverse dynamics', 'at limit', 'at rate limit')


def report(review: Review) -> str:
    """Return the whole report."""
    robot, playback, settings = review.robot, review.playback, review.settings
    own = settings.settings
    parts = [
        _conclusion(review),
        '',
        f'{len(robot.samples)} joint states of {playback.time[-1]:.1f} s played through '
        f'{robot.model.name} ({len(robot.model.joint_names)} joints)',
        f'mode {own.mode.value} at {own.rate:g} Hz, {len(playback.time)} ticks; joint states time '
        f'out after {settings.joint_states_timeout:.3g} s',
        'RMS in N m or N: the measured effort, and by how much it was missed',
        '',
        _table(review),
        '',
        f'states: {_states(review)}',
        *_counts('joint states refused', playback.refusals),
        *_counts('flagged', playback.flags),
        *(f'- {remark}' for remark in _remarks(review)),
        *(f'- {flaw}' for flaw in review.flaws),
    ]
    return '\n'.join(parts)


def _table(review: Review) -> str:
    playback = review.playback
    commanded = 'commanded + hardware' if playback.hardware.any() else 'commanded'
    rows: list[tuple[str, ...]] = [('joint', 'measured', commanded, *HEADER)]
    for place, name in enumerate(review.gravity.joints):
        limits = ('-', '-')
        if name in playback.joints:
            k = playback.joints.index(name)
            limits = (
                _share(playback.saturated[:, k], playback.controlling),
                _share(playback.rate_limited[:, k], playback.controlling),
            )
        rows.append((
            name,
            _number(review.gravity.size[place]),
            _missed(review.commanded, name),
            _missed(review.gravity, name),
            _missed(review.inverse_dynamics, name),
            *limits,
        ))
    return lay_out(rows, left=(0,))


def _missed(residual: Residual, name: str) -> str:
    """Return a residual as a number and a percentage, '-' where nothing was compared."""
    if name not in residual.joints:
        return '-'
    k = residual.joints.index(name)
    rms, percent = float(residual.rms[k]), float(residual.percent[k])
    if not math.isfinite(rms):
        return '-'
    return f'{rms:.2f} ({percent:.1f} %)' if math.isfinite(percent) else f'{rms:.2f}'


def _number(value: float) -> str:
    return f'{value:.2f}' if math.isfinite(value) else '-'


def _share(which: NDArray[np.bool_], of: NDArray[np.bool_]) -> str:
    """Return a share of ticks."""
    ticks = int(np.sum(of))
    return f'{100.0 * np.sum(which & of) / ticks:.1f} %' if ticks else '-'


def _states(review: Review) -> str:
    """Return the states in their order; what is flagged and cleared again is told elsewhere."""
    told: list[str] = []
    last = None
    for change in review.playback.states:
        state = State.ACTIVE if change.state is State.DEGRADED else change.state
        if state is not last:
            told.append(f'{state.value} at {change.time:.2f} s')
        last = state
    return ', '.join(told)


def _counts(what: str, counts: Counter[Reason]) -> Iterator[str]:
    if counts:
        yield f'{what}: ' + ', '.join(
            f'{reason.value} {count}' for reason, count in counts.most_common()
        )


def _remarks(review: Review) -> Iterator[str]:
    """Yield what limits the comparison."""
    robot, own = review.robot, review.settings.settings
    if robot.absent:
        yield f'not recorded, taken to be measured at rest: {", ".join(robot.absent)}'
    if own.mode is not Mode.GRAVITY:
        yield f'nothing is wanted in a recording: mode {own.mode.value} commands as gravity does'
    if review.playback.hardware.any():
        yield (
            'the hardware adds gravity or a payload to the commands: both together are compared '
            'with the measured effort'
        )
    if HardwareCompensation.FRICTION in own.hardware_compensates:
        yield (
            'not comparable: the hardware adds friction that the model does not know, and '
            'measured efforts may have it'
        )
    if review.playback.clock_steps:
        yield f'the clock of the stamps was set {review.playback.clock_steps} times'


def _conclusion(review: Review) -> str:
    last = review.playback.states[-1]
    if review.went_through:
        return 'the control went through the recording'
    if last.reason is None:
        return 'nothing was commanded: no valid state of every joint came'
    ended = next(change for change in review.playback.states if change.reason is not None)
    return f'the control ended at {ended.time:.2f} s: {last.reason.value}'
