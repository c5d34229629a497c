# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""What each integrator makes of the energy of an arm that swings freely: ``docs/energy.png``."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from numpy.typing import NDArray

import rnea_ros
from rnea_ros.simulation import Method, SimulatedMotion

ROOT = Path(__file__).resolve().parents[1]
STEPS = (4e-3, 2e-3, 1e-3)
DURATION = 2.0


def drift(model: rnea_ros.RobotModel, motion: SimulatedMotion) -> NDArray[np.float64]:
    """Return how far the energy is from that of the start at every row of a motion, J."""
    energies = np.array([
        model.kinetic_energy(q, qd) + model.potential_energy(q)
        for q, qd in zip(motion.positions, motion.velocities, strict=True)
    ])
    off: NDArray[np.float64] = np.abs(energies - energies[0])
    return off


def main() -> None:
    """Simulate, print the greatest drifts, and draw them over time."""
    import matplotlib as mpl

    mpl.use('Agg')
    from matplotlib import pyplot as plt

    model = rnea_ros.RobotModel.from_urdf(ROOT / 'urdf' / 'ur5e.urdf')
    q = np.array([0.0, -1.0, 0.5, -0.5, 0.3, 0.0])
    figure, axes = plt.subplots(figsize=(8.0, 4.5), layout='constrained')
    print(f'UR5e let go, {DURATION} s: greatest drift of its energy, J')
    for colour, method in zip(('tab:red', 'tab:orange', 'tab:blue'), Method, strict=True):
        for style, dt in zip((':', '--', '-'), STEPS, strict=True):
            motion = rnea_ros.simulate(
                model, q, np.zeros(6), dt=dt, steps=round(DURATION / dt), method=method
            )
            off = drift(model, motion)
            print(f'  {method.value:20} dt {1e3 * dt:.0f} ms  {off.max():.3g}')
            axes.semilogy(
                motion.time[1:], np.maximum(off[1:], 1e-14), style, color=colour,
                label=f'{method.value}, {1e3 * dt:.0f} ms',
            )
    axes.set_xlabel('time, s')
    axes.set_ylabel('|energy - energy at start|, J')
    axes.set_title('A UR5e let go keeps its energy: what integrators make of it')
    axes.legend(ncol=3, fontsize='small', loc='lower right')
    axes.grid(alpha=0.3)
    figure.savefig(ROOT / 'docs' / 'energy.png', dpi=110)


if __name__ == '__main__':
    main()
