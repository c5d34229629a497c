# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""Efforts of a model at the samples, and their changes with each possible fault."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TypeAlias

import numpy as np

from ..arrays import Array
from ..recordings import Kind, RecordingError, Samples
from ..robot import RobotModel

LOAD_PARAMETERS = 4  # mass, first moments; a load's inertia has little effect


KnownEfforts: TypeAlias = Callable[[Array, Array, Array], Array]
"""Efforts of friction and rotors that are known, of N motions q, qd, qdd of all model joints."""


@dataclass(frozen=True)
class Tip:
    """The last link that a measured joint moves, which may carry a tool."""

    link: str
    # Mass of each link fixed behind it, with everything that link carries, kg; in order from the
    # tip of the robot inwards.
    behind: Mapping[str, float]


class Prediction:
    """
    Efforts of a model at the samples, for n measured joints.

    :param model: the robot
    :param joints: recorded name of each measured joint, by the model's name
    :param samples: measured samples, with the recorded names
    :param flipped: numbers of measured joints whose axis is inverted
    :param moved: recorded names of joints with positions but without efforts, by the model's name
    :param known: efforts beside the rigid bodies, which are taken off the measured ones
    :raises RecordingError: the model has joints with several coordinates
    """

    def __init__(
        self, model: RobotModel, joints: Mapping[str, str], samples: Samples,
        flipped: Sequence[int] = (), moved: Mapping[str, str] | None = None,
        known: KnownEfforts | None = None,
    ) -> None:
        for name in model.joints_of_several_axes:
            raise RecordingError(f'joint {name!r} of the model has more than one axis')
        self.model = model
        self.joints = joints
        self.samples = samples
        self._moved = moved or {}
        self._known = known
        self._rows = [model.velocity_indices(name).start for name in joints]
        columns = [samples.names.index(name) for name in joints.values()]
        self._sign = np.ones(len(joints))
        self._sign[list(flipped)] = -1.0
        self.effort = samples.effort[:, columns]
        self.velocity = samples.velocity[:, columns]
        motion = np.zeros((3, len(samples.time), model.nv))
        self._q, self._qd, self._qdd = motion
        self._q[:] = np.clip(0.0, model.position_lower, model.position_upper)
        moved_rows = [model.velocity_indices(name).start for name in self._moved]
        moved_columns = [samples.names.index(name) for name in self._moved.values()]
        recorded = (samples.position, samples.velocity, samples.acceleration)
        for values, found in zip(motion, recorded, strict=True):
            values[:, self._rows] = self._sign * found[:, columns]
            values[:, moved_rows] = found[:, moved_columns]
        if known is not None:
            self.effort = self.effort - self._measured(known(self._q, self._qd, self._qdd))

    def flipped(self, joints: Sequence[int]) -> Prediction:
        """Return the prediction with the axes of some joints inverted."""
        return Prediction(self.model, self.joints, self.samples, joints, self._moved, self._known)

    def _measured(self, tau: Array) -> Array:
        """Return the efforts of the measured joints, shape (N, n)."""
        return self._sign * tau[:, self._rows]

    @cached_property
    def gravity(self) -> Array:
        """Gravity torques, shape (N, n), N m or N."""
        return self._measured(self.model.gravity_torques_batch(self._q))

    @cached_property
    def rigid(self) -> Array:
        """Efforts of gravity and motion without friction, shape (N, n), N m or N."""
        if self.samples.kind is Kind.STILL:
            return self.gravity
        return self._measured(self.model.inverse_dynamics_batch(self._q, self._qd, self._qdd))

    @cached_property
    def gravity_axes(self) -> Array:
        """Gravity torques of 1 m/s^2 along each axis of the root link, shape (N, n, 3)."""
        axes = [
            self._measured(self.model.with_gravity(axis).gravity_torques_batch(self._q))
            for axis in np.eye(3)
        ]
        return np.stack(axes, axis=-1)

    @cached_property
    def tips(self) -> tuple[Tip, ...]:
        """The links that may carry a tool: the last link that a measured joint moves."""
        description = self.model.description
        if description is None:
            return ()
        carried: dict[str, list[str]] = {name: [] for name in description.links}
        for joint in description.joints.values():
            carried[joint.parent].append(joint.child)

        def all_behind(link: str) -> list[str]:
            return [deeper for child in carried[link] for deeper in (*all_behind(child), child)]

        def mass(link: str) -> float:
            inertial = description.links[link].inertial
            return 0.0 if inertial is None else inertial.mass

        moved = {description.joints[name].child for name in self.joints}
        return tuple(
            Tip(
                link,
                {
                    other: mass(other) + sum(mass(deeper) for deeper in all_behind(other))
                    for other in all_behind(link)
                },
            )
            for link in description.links
            if link in moved and not moved & set(all_behind(link))
        )

    @cached_property
    def _regressor(self) -> Array:
        return self.model.regressor_batch(self._q, self._qd, self._qdd)[:, self._rows]

    def load(self, link: str) -> Array:
        """Return the efforts of unit mass and first moments on a link, shape (N, n, 4)."""
        first = 10 * self.model.body_names.index(link)
        columns: Array = self._regressor[:, :, first : first + LOAD_PARAMETERS]
        return columns * self._sign[:, np.newaxis]
