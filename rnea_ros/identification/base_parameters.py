# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""Base parameters: the combinations of parameters that a run determines."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class BaseParameters:
    """
    The identifiable combinations of the model's parameters.

    :param rank: number of combinations that the motion determines
    :param condition: condition number of their regressor, columns scaled to equal size
    :param combinations: one readable line for each, such as ``m(link2) + 0.5 mx(link3)``
    """

    rank: int
    condition: float
    combinations: tuple[str, ...]
