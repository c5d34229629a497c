# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""A recorded run: joint motion and efforts, clean, filtered, on a uniform grid."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ..arrays import Array, Indices
from ..errors import RneaError
from ..recordings import STILL_SPEED

POSE_GROUPS = 4  # number of groups of poses at rest; each is judged by a fit of the others


class IdentificationError(RneaError):
    """A model cannot be identified from these recordings."""


@dataclass(frozen=True)
class Run:
    """
    Motion and efforts of all n joints of a model, in the model's order.

    :param name: name of the recording, for reports
    :param time: shape (N,), s
    :param q: joint positions, shape (N, n), rad or m; zero for joints that were not recorded
    :param qd: joint velocities, shape (N, n), rad/s or m/s
    :param qdd: joint accelerations, shape (N, n), rad/s^2 or m/s^2
    :param effort: shape (N, n), N m or N; NaN for joints without usable effort
    :param segment: number of the part without gaps of each sample, shape (N,)
    :param joints: names of the model's joints that were recorded
    :param notes: flaws of the recording, one sentence each
    """

    name: str
    time: Array
    q: Array
    qd: Array
    qdd: Array
    effort: Array
    segment: Indices
    joints: tuple[str, ...]
    notes: tuple[str, ...] = ()

    def part(self, start: int, stop: int | None, step: int = 1) -> Run:
        """Return every ``step``-th sample from ``start`` up to ``stop``, None for the end."""
        columns = ('time', 'q', 'qd', 'qdd', 'effort', 'segment')
        which = slice(start, stop, step)
        return replace(self, **{name: getattr(self, name)[which] for name in columns})

    def split(self, share: float) -> tuple[Run, Run]:
        """Return the first part, a share of the time in motion from 0 to 1, and the rest."""
        moves = (np.abs(self.qd) >= STILL_SPEED).any(axis=1)
        moved = np.cumsum(moves if moves.any() else ~moves)
        place = int(np.searchsorted(moved, share * moved[-1]))
        return self.part(0, place), self.part(place, len(self.time))


def groups_of_poses(runs: Sequence[Run]) -> list[Run]:
    """Return poses at rest in groups of similar size, with every fourth pose in a group."""
    columns = ('time', 'q', 'qd', 'qdd', 'effort')
    poses: dict[str, Any] = {
        name: np.concatenate([getattr(run, name) for run in runs]) for name in columns
    }
    every = replace(runs[0], segment=np.arange(len(poses['time'])), **poses)
    return [
        replace(
            every.part(first, None, POSE_GROUPS), notes=every.notes if first == 0 else (),
            name=f'{every.name}, poses {first + 1}, {first + 1 + POSE_GROUPS}, ...'
        )
        for first in range(POSE_GROUPS)
    ]
