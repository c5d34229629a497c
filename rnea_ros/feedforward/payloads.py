# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""
Payloads that come and go while the control runs.

Inertial parameters are blended, so that the efforts are those of a robot whose load grows: nothing
steps, and a pose that is held stays held. Of two rigid bodies that can be, what lies between can
be too.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from ..dynamics.tree import KinematicTree
from ..dynamics.workspace import Workspace
from ..robot import Payload

Array: TypeAlias = NDArray[np.float64]
Shares: TypeAlias = Sequence[tuple[Payload, float]]
"""Payloads, and what share of each is carried, 0 to 1."""


class PayloadBlend:
    """
    Which payloads are carried, and to what share, while some take the place of others.

    :param payloads: what is carried from the start
    """

    def __init__(self, payloads: Sequence[Payload] = ()) -> None:
        self._before: Shares = ()
        self._target = tuple(payloads)
        self._remaining = 0.0
        self._duration = 1.0

    @property
    def blending(self) -> bool:
        """Whether shares are still changing."""
        return self._remaining > 0.0

    def change(self, payloads: Sequence[Payload], duration: float) -> None:
        """
        Let payloads take the place of those before.

        :param payloads: all that is carried in the end
        :param duration: s
        """
        self._before, self._target = self.shares(), tuple(payloads)
        self._duration = self._remaining = max(duration, 1e-9)

    def advance(self, period: float) -> bool:
        """
        Go on with the blend.

        :param period: time since the last call, s
        :return: whether shares changed
        """
        if self._remaining == 0.0:
            return False
        self._remaining = max(self._remaining - period, 0.0)
        return True

    def shares(self) -> Shares:
        """Return what is carried now."""
        left = self._remaining / self._duration
        coming = [(payload, 1.0 - left) for payload in self._target]
        if left == 0.0:
            return coming
        return [*((payload, left * share) for payload, share in self._before), *coming]


class Carrier:
    """
    Gives the bodies of a workspace what they carry.

    :param workspace: of the tree; its bodies are changed
    :param tree: of the robot without payloads
    """

    def __init__(self, workspace: Workspace, tree: KinematicTree) -> None:
        self._bodies = workspace.bodies
        self._tree = tree
        J = tree.bodies['J'].reshape(len(tree.bodies), 9)
        self._own = np.column_stack([tree.bodies['mass'], tree.bodies['h'], J])

    def carry(self, shares: Shares) -> None:
        """
        Let payloads be carried instead of those before.

        :param shares: payloads on links of the tree, and their shares
        """
        total = self._own.copy()
        for payload, share in shares:
            frame = self._tree.frames[payload.link]
            inertia = payload.rigid_body_inertia.seen_from(frame.placement)
            parameters = np.concatenate([[inertia.mass], inertia.h, inertia.J.ravel()])
            total[frame.body] += share * parameters
        self._bodies['mass'], self._bodies['h'] = total[:, 0], total[:, 1:4]
        self._bodies['J'] = total[:, 4:].reshape(-1, 3, 3)
