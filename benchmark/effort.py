# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""How long to measure."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Effort:
    """
    How often things are done.

    :param rounds: of a race of single calls
    :param batch_rounds: of a race over many samples
    :param samples: of a batch on one thread
    :param samples_a_core: of a batch on all cores
    :param growth_rounds: of a race at one number of bodies
    :param most_bodies: of a chain
    :param starts: processes that start with a warm cache; with none, start-up is left out
    """

    rounds: int
    batch_rounds: int
    samples: int
    samples_a_core: int
    growth_rounds: int
    most_bodies: int
    starts: int


FULL = Effort(
    rounds=300,
    batch_rounds=40,
    samples=8192,
    samples_a_core=65536,
    growth_rounds=40,
    most_bodies=1000,
    starts=5,
)
QUICK = Effort(
    rounds=20,
    batch_rounds=3,
    samples=8192,
    samples_a_core=8192,
    growth_rounds=5,
    most_bodies=200,
    starts=0,
)
