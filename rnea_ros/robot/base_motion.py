# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""The motion of a base that a vehicle, a ship or another machine carries."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from ..arrays import Array, finite_vector


@dataclass(frozen=True)
class BaseMotion:
    """
    Motion of the root link's frame relative to the world, in that frame's own axes.

    :param linear_velocity: velocity of the frame's origin, shape (3,), m/s
    :param angular_velocity: shape (3,), rad/s
    :param linear_acceleration: acceleration of the frame's origin relative to the world, without
        gravity, shape (3,), m/s^2
    :param angular_acceleration: shape (3,), rad/s^2
    """

    linear_velocity: ArrayLike = (0.0, 0.0, 0.0)
    angular_velocity: ArrayLike = (0.0, 0.0, 0.0)
    linear_acceleration: ArrayLike = (0.0, 0.0, 0.0)
    angular_acceleration: ArrayLike = (0.0, 0.0, 0.0)

    def spatial(self) -> tuple[Array, Array]:
        """
        Return spatial velocity and acceleration, [angular; linear], shape (6,) each.

        The linear part of a spatial acceleration is that of the origin minus omega x velocity
        (Featherstone 2008, section 2.11).

        :raises InputError: a part that is not an array of shape (3,) of finite numbers
        """
        v, w, a, alpha = (
            finite_vector(name, getattr(self, name), 3)
            for name in (
                'linear_velocity',
                'angular_velocity',
                'linear_acceleration',
                'angular_acceleration',
            )
        )
        return np.concatenate([w, v]), np.concatenate([alpha, a - np.cross(w, v)])
