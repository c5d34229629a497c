# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""Lines over the last seconds."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping, Sequence
import math

import numpy as np
from viser import GuiApi
from viser.uplot import Series

from ..arrays import Array

WINDOW, INTERVAL = 15.0, 0.25  # shown time; time between two pictures, s
COLOURS = (
    '#1971c2', '#e8590c', '#2f9e44', '#c2255c', '#6741d9', '#0c8599', '#f08c00', '#495057',
    '#a61e4d', '#66a80f', '#3bc9db',
)


class Plot:
    """A plot; lines that are zero all the time are left out."""

    def __init__(self, gui: GuiApi) -> None:
        self._history: deque[tuple[float, Array]] = deque()
        self._names: tuple[str, ...] = ()
        self._due = -math.inf
        self._handle = gui.add_uplot(
            (np.array((-WINDOW, 0.0)), np.zeros(2)), _series((0,), ('',)), height=220,
            scales={'x': {'time': False, 'range': (-WINDOW, 0.0)}}, axes=({}, {'size': 45}),
        )

    def show(self, now: float, title: str, values: Mapping[str, float]) -> None:
        """Add the newest values, and show a picture if one is due; another title starts anew."""
        if (title, tuple(values)) != (self._handle.title, self._names):
            self._handle.title, self._names = title, tuple(values)
            self._history.clear()
        self._history.append((now, np.array([*values.values()])))
        while self._history[0][0] < now - WINDOW:
            self._history.popleft()
        if now < self._due or not values:
            return
        self._due = now + INTERVAL
        times, lines = (np.array(column) for column in zip(*self._history, strict=True))
        shown = np.flatnonzero(lines.any(axis=0)).tolist() or [0]
        series = _series(shown, self._names)
        if series != self._handle.series:  # makes a new chart
            self._handle.series = series
        self._handle.data = (times - now, *lines.T[shown])


def _series(numbers: Sequence[int], names: Sequence[str]) -> tuple[Series, ...]:
    """Return the styles of the lines; each keeps its colour."""
    return (Series(label='s'), *(
        Series(label=names[k], width=2.0, stroke=COLOURS[k % len(COLOURS)]) for k in numbers
    ))
