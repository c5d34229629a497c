# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""Repeated motions are found, and the length over which errors are correlated."""

import numpy as np
import pytest
from scipy.signal import lfilter

from rnea_ros.recordings import contains, correlation_length, period

TIME = np.arange(3000) * 0.02


def motion(seconds: float) -> np.ndarray:
    """Return a motion of two joints that repeats after a time."""
    w = 2.0 * np.pi / seconds
    q = [np.sin(w * TIME) + 0.5 * np.sin(3.0 * w * TIME + 1.0), np.cos(2.0 * w * TIME)]
    return np.stack(q, axis=1) + 5.0


@pytest.mark.parametrize(('seconds', 'rows'), [(10.0, 500), (24.0, 1200), (90.0, 3000)])
def test_the_period_of_a_motion_is_found_if_it_repeats(seconds: float, rows: int) -> None:
    assert abs(period(motion(seconds)) - rows) <= 0.02 * rows


def test_a_pose_has_no_period() -> None:
    assert period(np.ones((50, 2))) == 50


def test_a_part_is_found_in_a_motion() -> None:
    q = motion(90.0)
    assert contains(q, q[700:900])
    assert not contains(q[:2000], q[2200:])
    assert not contains(q[:10], q)


@pytest.mark.parametrize('memory', [0.0, 0.5, 0.9])
def test_the_correlation_length_is_that_of_the_process(memory: float) -> None:
    white = np.random.default_rng(1).normal(size=(20000, 3))
    errors = np.asarray(lfilter([1.0], [1.0, -memory], white, axis=0))
    expected = (1.0 + memory) / (1.0 - memory)
    assert correlation_length(errors) == pytest.approx(expected, rel=0.15)
