# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""Figures, with a window and without."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from rnea_ros.drawing import new_figure, save, show_windows
from rnea_ros.files import FileError

pyplot = pytest.importorskip('matplotlib.pyplot', reason='matplotlib is not installed')


@pytest.fixture(autouse=True)
def without_display() -> Iterator[None]:
    backend = pyplot.get_backend()
    pyplot.switch_backend('Agg')
    yield
    pyplot.close('all')
    pyplot.switch_backend(backend)


@pytest.mark.parametrize('window', [False, True])
def test_a_figure_has_a_window_where_one_is_asked_for(
    window: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shown: list[int] = []
    monkeypatch.setattr(pyplot, 'show', lambda: shown.extend(pyplot.get_fignums()))
    save(new_figure(2.0, 1.0, window=window), tmp_path / 'figure.png')
    show_windows()
    assert len(shown) == window
    assert (tmp_path / 'figure.png').read_bytes().startswith(b'\x89PNG')


def test_a_file_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    with pytest.raises(FileError, match='nowhere'):
        save(new_figure(2.0, 1.0), tmp_path / 'nowhere/figure.png')
