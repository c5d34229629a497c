# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""The low-pass filter before the fit, repeated motions, and the correlation of errors."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.signal import lfilter

from rnea_ros.recordings import (
    Recording,
    clean,
    contains,
    correlation_length,
    filtered_motion,
    period,
)

W = 2.0 * np.pi * 0.5


def swing(rate: float, duration: float = 10.0) -> Recording:
    """Return two joints that swing at 0.5 Hz, with efforts in phase."""
    t = np.arange(int(rate * duration)) / rate
    q = np.column_stack([np.sin(W * t), np.cos(W * t)])
    qd = W * np.column_stack([np.cos(W * t), -np.sin(W * t)])
    return Recording(('a', 'b'), t, q, qd, 3.0 * q)


@pytest.mark.parametrize('rate', [50.0, 1000.0])
def test_a_slow_swing_passes_with_its_derivatives_and_without_delay(rate: float) -> None:
    motion = filtered_motion(clean(swing(rate)))
    true = np.sin(W * motion.time)
    # The window's ends shake by 1e-4; central differences at 50 Hz miss 0.1 %.
    np.testing.assert_allclose(motion.position[:, 0], true, atol=1e-3)
    np.testing.assert_allclose(motion.effort[:, 0], 3.0 * true, atol=3e-3)
    np.testing.assert_allclose(motion.velocity[:, 0], W * np.cos(W * motion.time), atol=2e-2)
    np.testing.assert_allclose(motion.acceleration[:, 0], -(W**2) * true, atol=0.1)
    assert motion.time[0] >= 0.5
    assert motion.time[-1] <= 9.5
    assert 1.0 / np.median(np.diff(motion.time)) == pytest.approx(50.0, rel=0.3)


def test_what_is_above_the_cut_off_frequency_is_removed() -> None:
    recording = swing(250.0)
    ringing = 0.1 * np.sin(2.0 * np.pi * 40.0 * recording.time)[:, np.newaxis]
    motion = filtered_motion(clean(replace(recording, effort=recording.effort + ringing)))
    assert np.abs(motion.effort - 3.0 * motion.position).max() < 1e-3


def test_even_times_replace_stamps_where_they_fit_the_velocity_better() -> None:
    recording = swing(50.0)
    random = np.random.default_rng(0)
    jitter = recording.time + random.uniform(-0.004, 0.004, len(recording.time))
    motion = filtered_motion(clean(replace(recording, time=jitter)))
    assert 'evenly spaced' in ' '.join(motion.notes)
    assert np.abs(motion.acceleration[:, 0] + W**2 * np.sin(W * motion.time)).max() < 0.2
    lost = np.delete(np.arange(len(recording.time)), [100, 101, 250])
    assert 'evenly spaced' not in ' '.join(filtered_motion(clean(recording.part(lost))).notes)


TIME = np.arange(3000) * 0.02


def repeated(seconds: float) -> np.ndarray:
    """Return a motion of two joints that repeats after a time."""
    w = 2.0 * np.pi / seconds
    q = [np.sin(w * TIME) + 0.5 * np.sin(3.0 * w * TIME + 1.0), np.cos(2.0 * w * TIME)]
    return np.stack(q, axis=1) + 5.0


@pytest.mark.parametrize(('seconds', 'rows'), [(10.0, 500), (24.0, 1200), (90.0, 3000)])
def test_the_period_of_a_motion_is_found_if_it_repeats(seconds: float, rows: int) -> None:
    assert abs(period(repeated(seconds)) - rows) <= 0.02 * rows
    assert period(np.ones((50, 2))) == 50  # a pose


def test_a_part_is_found_in_a_motion() -> None:
    q = repeated(90.0)
    assert contains(q, q[700:900])
    assert not contains(q[:2000], q[2200:])
    assert not contains(q[:10], q)


@pytest.mark.parametrize('memory', [0.0, 0.5, 0.9])
def test_the_correlation_length_is_that_of_the_process(memory: float) -> None:
    white = np.random.default_rng(1).normal(size=(20000, 3))
    errors = np.asarray(lfilter([1.0], [1.0, -memory], white, axis=0))
    expected = (1.0 + memory) / (1.0 - memory)
    assert correlation_length(errors) == pytest.approx(expected, rel=0.15)
