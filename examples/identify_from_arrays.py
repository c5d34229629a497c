# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""Identify masses and friction from arrays of your own: no bag, no ROS."""

import numpy as np

from rnea_ros import RobotModel, identification
from rnea_ros.identification import Recording
from rnea_ros.resources import share_path

RATE, SECONDS = 100.0, 20.0
HEAVIER = 1.3
"""Factor of the real arm's masses and inertias."""

VISCOUS, COULOMB = 0.5, 0.8
"""Friction of each joint of the real arm, N m s/rad and N m."""


def recorded(real: RobotModel) -> Recording:
    """Return what an arm would report: put your own arrays here."""
    random = np.random.default_rng(0)
    t = np.arange(0.0, SECONDS, 1.0 / RATE)
    q, qd, qdd = np.zeros((3, len(t), real.nv))
    for frequency in (0.1, 0.25, 0.45):  # Hz
        w = 2.0 * np.pi * frequency
        amplitude, phase = 0.3 / frequency**0.5, random.uniform(0.0, 6.0, real.nv)
        q += amplitude * np.sin(w * t[:, np.newaxis] + phase)
        qd += amplitude * w * np.cos(w * t[:, np.newaxis] + phase)
        qdd -= amplitude * w * w * np.sin(w * t[:, np.newaxis] + phase)
    effort = real.inverse_dynamics_batch(q, qd, qdd) + VISCOUS * qd + COULOMB * np.tanh(qd / 0.01)
    effort += random.normal(0.0, 0.05, effort.shape)
    return Recording(real.joint_names, t, q, qd, effort)


def main() -> identification.Identification:
    """Return the identified model, and print how well it fits."""
    urdf = RobotModel.from_urdf(share_path('urdf/ur5e.urdf'))
    real = urdf.with_inertial_parameters(HEAVIER * urdf.inertial_parameters)
    run = identification.run_from(recorded(real), urdf)
    fit = identification.identify(urdf, run)  # judged on the last 30 %
    judged = fit.comparison
    before, after = judged.percent(judged.urdf), judged.percent(judged.identified)
    viscous = fit.friction.viscous[0]  # in positive direction
    for joint, was, now, B in zip(urdf.joint_names, before, after, viscous, strict=True):
        print(f'{joint:20} error {was:5.1f} % -> {now:4.1f} %, viscous friction {B:.2f}')
    fit.write_urdf('from_arrays.urdf')
    fit.write_parameters('from_arrays.yaml')
    return fit


if __name__ == '__main__':
    main()
