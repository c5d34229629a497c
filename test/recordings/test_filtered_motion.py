# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""The low-pass filter before the fit: no phase, true derivatives, the better clock."""

from dataclasses import replace

import numpy as np
import pytest

from rnea_ros.recordings import Recording, RecordingError, clean, filtered_motion

W = 2.0 * np.pi * 0.5


def swing(rate: float, duration: float = 10.0) -> Recording:
    """Return two joints that swing at 0.5 Hz, with efforts in phase."""
    t = np.arange(int(rate * duration)) / rate
    q = np.column_stack([np.sin(W * t), np.cos(W * t)])
    qd = W * np.column_stack([np.cos(W * t), -np.sin(W * t)])
    return Recording(('a', 'b'), t, q, qd, 3.0 * q)


@pytest.mark.parametrize('rate', [50.0, 125.0, 1000.0])
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
    ringing = 0.1 * np.sin(2.0 * np.pi * 40.0 * recording.time)
    motion = filtered_motion(
        clean(replace(recording, effort=recording.effort + ringing[:, np.newaxis]))
    )
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


def test_a_rate_below_the_cut_off_frequency_is_rejected() -> None:
    with pytest.raises(RecordingError, match='needs at least 22 Hz'):
        filtered_motion(clean(swing(15.0)))


def test_samples_keep_the_number_of_their_part() -> None:
    recording = swing(250.0)
    # Parts of 4 s, 0.5 s and 4 s; the filter cuts 0.5 s at both ends.
    time = recording.time
    whole = recording.part((time < 4.0) | ((time > 4.5) & (time < 5.0)) | (time > 5.5))
    motion = filtered_motion(clean(whole))
    assert set(motion.segment) == {0, 2}
    assert motion.time[motion.segment == 0].max() < 3.6
    assert motion.time[motion.segment == 2].min() > 5.9
