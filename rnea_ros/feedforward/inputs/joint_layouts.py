# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""Where a robot's joints are in a message's list of joint names."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ...arrays import Indices

MAX_LAYOUTS = 100
"""Number of lists of joint names that are kept; a publisher usually has one."""


@dataclass(frozen=True)
class JointLayout:
    """
    Positions of the robot's joints in messages with the same list of names.

    :param names: all names in the message
    :param in_message: indices of the robot's joints in the message, shape (k,)
    :param in_robot: indices of the same joints in the robot, shape (k,)
    :param numbers: ``in_robot`` as a list
    :param duplicate: whether a name occurs twice
    """

    names: tuple[str, ...]
    in_message: Indices
    in_robot: Indices
    numbers: list[int]
    duplicate: bool


class JointLayouts:
    """Finds the layouts for a robot's joints, and keeps them."""

    def __init__(self, joint_names: Sequence[str]) -> None:
        self._numbers = {name: number for number, name in enumerate(joint_names)}
        self._layouts: dict[tuple[str, ...], JointLayout] = {}
        self._last: JointLayout | None = None

    def of(self, names: Sequence[str]) -> JointLayout:
        """Return the layout for joint names; fastest if it is the same object every time."""
        last = self._last
        if last is not None and last.names is names:
            return last
        key = tuple(names)
        if key not in self._layouts:
            if len(self._layouts) == MAX_LAYOUTS:
                self._layouts.clear()
            used = [k for k, name in enumerate(key) if name in self._numbers]
            numbers = [self._numbers[key[k]] for k in used]
            self._layouts[key] = JointLayout(
                key, np.array(used, dtype=np.intp), np.array(numbers, dtype=np.intp), numbers,
                duplicate=len(set(key)) < len(key),
            )
        self._last = self._layouts[key]
        return self._last
