# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""What drivers and recorders do to joint states is undone, filtered, or rejected with a reason."""

from dataclasses import replace
from pathlib import Path
import resource
from threading import Event, Thread
from typing import Any

import numpy as np
import pytest

from rnea_ros.errors import RneaError
from rnea_ros.recordings import (
    Kind,
    Recording,
    RecordingError,
    Sample,
    bags,
    clean,
    filtered_motion,
    match_joints,
    motion_samples,
    recording_from,
    still_poses,
    take_samples,
)
from rnea_ros.recordings.robust import contains, huber_weights
from support.recorded.synthetic_recordings import ARM, Robot, record

MOTION = record(Robot(ARM), Kind.MOTION, 1)
POSES = record(Robot(ARM), Kind.STILL, 1)


def notes(recording: Recording) -> str:
    return ' '.join(clean(recording).notes)


REPEATS = np.arange(100, 1200, 90)


def changed(field: str, rows: Any, columns: slice | int, values: object) -> Recording:
    array = getattr(MOTION, field).copy()
    array[(rows, columns) if array.ndim == 2 else rows] = values
    return replace(MOTION, **{field: array})


def test_a_sound_recording_stays_as_it_is() -> None:
    cleaned = clean(MOTION)
    assert cleaned.notes == ()
    np.testing.assert_array_equal(cleaned.position, MOTION.position)
    assert (cleaned.segment == 0).all()
    held = POSES.part(POSES.time < 1.0)  # an arm at rest repeats itself rightly
    still = replace(held, position=np.tile(held.position[:1], (len(held.time), 1)))
    assert len(clean(still).time) == len(still.time)
    with pytest.raises(RecordingError, match='no effort'):
        clean(replace(MOTION, effort=np.full_like(MOTION.effort, np.nan)))


@pytest.mark.parametrize(('recording', 'removed', 'reason'), [
    (changed('position', REPEATS, slice(None), MOTION.position[REPEATS - 1]), REPEATS, 'repeat'),
    (changed('time', 500, 0, MOTION.time[499]), [500], 'stamp not after'),
    (changed('position', np.array([3, 700]), 2, (np.nan, np.inf)), [3, 700], 'non-finite'),
    (changed('effort', np.array([3, 700]), 2, (np.nan, np.inf)), [3, 700], 'non-finite'),
    (changed('time', 500, 0, np.nan), [500], 'non-finite'),
])
def test_unusable_samples_are_left_out(
    recording: Recording, removed: list[int], reason: str
) -> None:
    cleaned = clean(recording)
    np.testing.assert_array_equal(cleaned.time, np.delete(MOTION.time, removed))
    assert f'{len(removed)} samples' in cleaned.notes[0]
    assert reason in cleaned.notes[0]


def test_parts_lie_between_gaps_and_nothing_is_differentiated_across() -> None:
    gap = MOTION.part((MOTION.time < 8.0) | (MOTION.time > 11.0))
    cleaned = clean(gap)
    assert 'gaps: 1, the longest 3.04 s' in notes(gap)
    samples, whole = motion_samples(cleaned), motion_samples(clean(MOTION))
    assert not ((samples.time > 7.8) & (samples.time < 11.2)).any()
    assert np.abs(samples.acceleration).max() <= 1.1 * np.abs(whole.acceleration).max()
    first, second = cleaned.parts()
    assert (first.start, first.stop, second.stop) == (0, second.start, len(cleaned.time))
    assert cleaned.time[second.start] - cleaned.time[first.stop - 1] > 3.0
    assert 20 <= len(np.unique(whole.block)) <= 25


def test_a_start_that_rings_is_left_out_and_noise_is_not() -> None:
    rings = MOTION.effort.copy()
    rings[:9] += 10.0 * (-1.0) ** np.arange(9)[:, np.newaxis]
    cleaned = clean(replace(MOTION, effort=rings))
    assert 9 <= len(MOTION.time) - len(cleaned.time) <= 12


def test_velocities_that_contradict_the_positions_are_reported() -> None:
    wrong = MOTION.velocity.copy()
    wrong[:, 2] *= 0.5
    assert 'fer_joint3 by 50 %' in notes(replace(MOTION, velocity=wrong))
    # The positions of a held joint are noise, as its velocities are.
    position = MOTION.position.copy()
    position[:, 2] = np.random.default_rng(0).normal(scale=1e-4, size=len(position))
    wrong[:, 2] = 0.0
    assert 'contradict' not in notes(replace(MOTION, position=position, velocity=wrong))


def test_poses_are_means_over_the_time_of_holding_and_count_once() -> None:
    poses = still_poses(clean(POSES))
    assert len(poses.time) == 12
    assert not poses.velocity.any()
    middle = POSES.position[np.searchsorted(POSES.time, poses.time + 0.5)]
    np.testing.assert_allclose(poses.position, middle, atol=1e-4)
    twice = POSES.part(np.tile(np.arange(len(POSES.time)), 2))
    twice = replace(twice, time=np.linspace(0.0, 35.0, len(twice.time)))
    assert len(still_poses(clean(twice)).time) == 12
    # They are preferred if there are enough.
    assert take_samples(clean(POSES)).kind is Kind.STILL
    assert take_samples(clean(MOTION)).kind is Kind.MOTION
    with pytest.raises(RecordingError, match='only 1 different poses at rest; at least 8'):
        take_samples(clean(POSES.part(POSES.time < 1.0)), Kind.STILL)


def test_samples_of_any_order_of_joints_are_sorted_by_name() -> None:
    samples = [
        Sample(0.0, ('a', 'b'), [1.0, 2.0], [], [3.0, 4.0]),
        Sample(0.1, ('b', 'a'), [2.0, 1.0], [], [4.0, 3.0]),
        Sample(0.2, ('gripper',), [0.5], [], []), Sample(0.3, ('a', 'b'), [1.0], [], []),
    ]
    recording = recording_from(samples)
    np.testing.assert_array_equal(recording.position, [[1.0, 2.0]] * 2)
    np.testing.assert_array_equal(recording.effort, [[3.0, 4.0]] * 2)
    assert np.isnan(recording.velocity).all()
    assert len(recording.notes) == 2
    with pytest.raises(RecordingError):
        recording_from([Sample(0.0, ('a',), [], [], [])])


@pytest.mark.parametrize(('model', 'recorded', 'given', 'expected'), [
    ('a b c', 'c a x', None, {'a': 'a', 'c': 'c'}),
    ('a b', 'x b', {'a': 'x'}, {'a': 'x', 'b': 'b'}),
    ('panda_joint1 panda_joint2 panda_finger', 'fer_joint1 fer_joint2', None,
     {'panda_joint1': 'fer_joint1', 'panda_joint2': 'fer_joint2'}),
    ('l/a l/b', 'a b', None, {'l/a': 'a', 'l/b': 'b'}),
    ('a b', 'x left_k', {'z': 'x'}, "no joint 'z'"),
    ('a b', 'x left_k', {'a': 'y'}, "'y' is not recorded"),
    ('a b', 'x left_k', {}, 'give the pairs'),
    ('a b', 'x left_k', {'a': 'x', 'b': 'x'}, 'assigned twice: a=x, b=x'),
])
def test_joints_match_by_given_pairs_equal_names_or_one_prefix(
    model: str, recorded: str, given: dict[str, str] | None, expected: dict[str, str] | str
) -> None:
    if isinstance(expected, str):
        with pytest.raises(RecordingError, match=expected):
            match_joints(model.split(), recorded.split(), given)
    else:
        found = match_joints(model.split(), recorded.split(), given)
        assert [*found.items()] == [*expected.items()]


@pytest.mark.parametrize(('own', 'bound'), [(2**40, bags.MAX_UNPACKED), (10**8, 10**8)])
def test_a_bag_is_bounded_also_below_a_limit_of_the_user(
    own: int, bound: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bags, '_STATM', tmp_path / 'statm')  # /proc need not be mounted
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (own, before[1]))
    try:
        with bags._bounds(tmp_path):
            assert resource.getrlimit(resource.RLIMIT_FSIZE) == (bound, before[1])
        assert resource.getrlimit(resource.RLIMIT_FSIZE) == (own, before[1])
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


def test_limits_of_the_process_end_after_two_threads_have_read(tmp_path: Path) -> None:
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    inside, leave = Event(), Event()

    def read() -> None:
        with bags._bounds(tmp_path):
            inside.set()
            leave.wait(60.0)

    other = Thread(target=read)
    with bags._bounds(tmp_path):
        other.start()
        inside.wait(0.2)
    leave.set()
    other.join()
    assert resource.getrlimit(resource.RLIMIT_FSIZE) == before


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


def test_a_part_is_found_in_a_motion() -> None:
    q = repeated(90.0)
    assert contains(q, q[700:900])
    assert not contains(q[:2000], q[2200:])
    assert not contains(q[:10], q)


def test_hubers_weights_fall_with_the_inverse_of_a_large_residual() -> None:
    residual = np.array([[0.0, 1.0, -1.9], [4.0, -8.0, np.nan]])
    weights = huber_weights(residual, np.array([1.0, 2.0, 1.0]), 2.0)
    np.testing.assert_allclose(weights, [[1.0, 1.0, 1.0], [0.5, 0.5, 1.0]])


@pytest.mark.parametrize(('changes', 'words'), [
    ({'position': [[1.0]] * 3}, r'position has shape \(3, 1\), not \(3, 2\): one row'),
    ({'effort': [[1.0, 2.0]] * 2}, r'effort has shape \(2, 2\)'),
    ({'time': [0.0, 0.2, 0.1]}, 'time, row 2: 0.1 s is not after 0.2 s; leave this row out'),
    ({'position': [[1.0, 2.0], [1.0, np.nan], [0.0, 1.0]]}, 'position of b, row 1: nan'),
    ({'effort': [[1.0, 2.0], [1.0, 2.0], [np.inf, 1.0]]}, 'effort of a, row 2: inf'),
    ({'names': ('a', 'a')}, 'has a name twice'), ({'time': ['0', '1', '2']}, 'real numbers'),
])
def test_arrays_of_a_recording_are_checked(changes: dict[str, Any], words: str) -> None:
    sound: dict[str, Any] = {'names': ['a', 'b'], 'time': [0, 1, 2]}
    sound |= {'position': [[0, 1]] * 3, 'effort': [[np.nan, 1.0]] * 3}
    assert np.isnan(Recording(**sound).velocity).all()
    with pytest.raises(RneaError, match=words):
        Recording(**{**sound, **changes})
