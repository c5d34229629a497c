# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""
Draw docs/pictures/preflight.png: a recording that preflight accepts, and one with two faults.

``python docs/preflight_picture.py`` writes the file. Needs rosbags and matplotlib.
"""

from __future__ import annotations

from dataclasses import replace
import lzma
from pathlib import Path
import sys
from tempfile import TemporaryDirectory

import numpy as np

from rnea_ros import RobotModel
from rnea_ros.drawing import add_grid, legend_above, new_figure, save
from rnea_ros.preflight import check
from rnea_ros.preflight.report import short_findings
from rnea_ros.recordings import Recording, read_joint_states, recording_from

ROOT = Path(__file__).parents[1]
FILE = ROOT / 'docs' / 'pictures' / 'preflight.png'
BAG = ROOT / 'test' / 'data' / 'panda_exciting_trajectory.db3.xz'
SHOWN = (1, 2, 3)
FACTORS = np.array([1.0, 0.7, 1.0, -1.0, 1.0, 1.0, 1.0])
"""Of the efforts in the second column: a wrong torque constant, an inverted sign."""


def recorded() -> Recording:
    """Return the recording of a real Panda."""
    with TemporaryDirectory() as folder:
        bag = Path(folder) / BAG.stem
        bag.write_bytes(lzma.decompress(BAG.read_bytes()))
        return recording_from(read_joint_states(bag))


def main() -> int:
    """Write the file; return the exit code."""
    model = RobotModel.from_urdf(ROOT / 'urdf' / 'panda_arm.urdf')
    good = recorded()
    bad = replace(good, effort=good.effort * FACTORS)
    figure = new_figure(11.0, 5.6)
    axes = figure.subplots(len(SHOWN), 2, sharex=True, sharey='row')
    titles = ('as recorded', 'efforts of joint 2 times 0.7, of joint 4 inverted')
    for column, (recording, title) in enumerate(zip((good, bad), titles, strict=True)):
        checkup = check(model, recording)
        prediction, samples = checkup.assessment.prediction, checkup.assessment.samples
        for axis, joint in zip(axes[:, column], SHOWN, strict=True):
            axis.plot(samples.time, prediction.effort[:, joint], color='0.65', label='measured')
            axis.plot(samples.time, prediction.rigid[:, joint], color='C0', label='model')
            found = short_findings(joint, checkup.findings)
            axis.set_title(found, loc='right', fontsize='small', color='C3')
            add_grid(axis)
        axes[0, column].annotate(
            f'{title}: {checkup.verdict.name.lower()}', (0.0, 1.24), xycoords='axes fraction'
        )
        axes[-1, column].set_xlabel('time, s')
    for axis, joint in zip(axes[:, 0], SHOWN, strict=True):
        axis.set_ylabel(f'{model.joint_names[joint]}\nN m', fontsize='small')
    legend_above(axes[0, 0])
    save(figure, FILE)
    return 0


if __name__ == '__main__':
    sys.exit(main())
