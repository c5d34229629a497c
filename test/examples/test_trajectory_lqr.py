# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""The example of the derivatives: a linear-quadratic regulator about a trajectory."""

import numpy as np
import pytest

pytest.importorskip('mujoco')

import trajectory_lqr as example


def test_the_regulator_brings_the_arm_back_to_its_trajectory() -> None:
    alone, regulated = example.errors(regulated=False), example.errors(regulated=True)
    start = np.abs(example.OFFSET).max()
    np.testing.assert_allclose([alone[0], regulated[0]], start, rtol=1e-12)
    assert alone[-1] > 1.0
    assert regulated[-1] < 1e-3
    assert regulated.max() < 1.5 * start
