# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""
A process that starts, loads a robot and calls everything once; it prints how long each took.

``python -m benchmark.first_calls URDF`` prints a JSON object: seconds by step, megabytes that the
first torque takes, and the names of kernels that no call compiled.
"""

from __future__ import annotations

import time

START = time.perf_counter()

import json  # noqa: E402
from pathlib import Path  # noqa: E402
import sys  # noqa: E402

import numpy as np  # noqa: E402


def megabytes() -> float:
    """
    Return the most memory that this program held.

    Not by getrusage, which begins with the memory of the process that started this one.
    """
    status = Path('/proc/self/status').read_text(encoding='utf-8')
    return float(status.split('VmHWM:')[1].split()[0]) / 1024.0


OF_NUMPY = megabytes()

import rnea_ros  # noqa: E402

IMPORTED = time.perf_counter()


def first_calls(urdf: str) -> tuple[dict[str, float], float]:
    """
    Return seconds by step, and the megabytes that the first torque took.

    :param urdf: a file's path
    """
    of_first_torque = 0.0
    seconds = {'import': IMPORTED - START}

    def timed(step: str, began: float) -> None:
        seconds[step] = time.perf_counter() - began

    began = time.perf_counter()
    model = rnea_ros.RobotModel.from_urdf(urdf)
    timed('model', began)
    q, qd, qdd = np.random.default_rng(0).normal(size=(3, model.nv))
    Q, QD, QDD = q[np.newaxis], qd[np.newaxis], qdd[np.newaxis]
    tip = model.link_names[-1]
    for method, arguments in (
        ('inverse_dynamics', (q, qd, qdd)),
        ('gravity_torques', (q,)),
        ('mass_matrix', (q,)),
        ('coriolis_matrix', (q, qd)),
        ('forward_dynamics', (q, qd, qdd)),
        ('inverse_dynamics_derivatives', (q, qd, qdd)),
        ('forward_dynamics_derivatives', (q, qd, qdd)),
        ('forward_kinematics', (q, tip)),
        ('jacobian', (q, tip)),
        ('jacobian_rate', (q, qd, tip)),
        ('bias_acceleration', (q, qd, tip)),
        ('centre_of_mass', (q,)),
        ('kinetic_energy', (q, qd)),
        ('potential_energy', (q,)),
        ('link_positions_batch', (Q, [tip])),
        ('regressor', (q, qd, qdd)),
        ('inverse_dynamics_batch', (Q, QD, QDD)),
        ('gravity_torques_batch', (Q,)),
        ('mass_matrix_batch', (Q,)),
        ('forward_dynamics_batch', (Q, QD, QDD)),
        ('regressor_batch', (Q, QD, QDD)),
        ('inverse_dynamics_derivatives_batch', (Q, QD, QDD)),
        ('forward_dynamics_derivatives_batch', (Q, QD, QDD)),
    ):
        began = time.perf_counter()
        getattr(model, method)(*arguments)
        timed(method, began)
        of_first_torque = of_first_torque or megabytes() - OF_NUMPY
    return seconds, of_first_torque


def kernels_left() -> list[str]:
    """Return the kernels that Python can call and that are not compiled."""
    return sorted(
        f'{name}.{attribute}'
        for name, module in sys.modules.items()
        if name.startswith('rnea_ros.dynamics.')
        for attribute, kernel in vars(module).items()
        # Those that are inlined are parts of others.
        if getattr(kernel, '__module__', None) == name
        and getattr(kernel, 'targetoptions', {'forceinline': True}).get('forceinline') is None
        and not kernel.signatures
    )


if __name__ == '__main__':
    SECONDS, MEGABYTES = first_calls(sys.argv[1])
    print(json.dumps({'seconds': SECONDS, 'megabytes': MEGABYTES, 'left': kernels_left()}))
