# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""The record of one body in the kernels: constants of the tree, then numbers that they write."""

from __future__ import annotations

from functools import cache
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

Records: TypeAlias = NDArray[np.void]
"""One record for each body of a tree, the base first."""

BASE = 0
"""
The number of the base, which carries all other bodies.

It has no joint: its ``q_index`` and ``qd_index`` are the lengths of q and qd.
"""

_CONSTANTS_OF_THE_TREE = [
    ('parent', np.int64),
    ('kind', np.int64),
    ('q_index', np.int64),          # index of its first number in q
    ('qd_index', np.int64),         # index of its first number in qd, qdd and tau
    ('qd_size', np.int64),          # its numbers in qd: degrees of freedom
    ('column', np.int64),           # first column of the identity in S
    ('ratio', np.float64),          # a mimic joint moves by ratio q + offset
    ('offset', np.float64),
    ('E_T', np.float64, (3, 3)),    # X_T: from the parent body's coordinates at q = 0
    ('r_T', np.float64, (3,)),
    ('mass', np.float64),
    ('h', np.float64, (3,)),
    ('J', np.float64, (3, 3)),
    ('link_axes', np.float64, (3, 3)),  # rotation matrix from the link's axes to the body's
]


def floats(lanes: tuple[int, ...], **shapes: tuple[int, ...]) -> np.dtype[np.void]:
    """Return a dtype of arrays of floats with lanes; a float of shape () has no lanes."""
    return np.dtype([
        (name, np.float64, (*shape, *lanes) if shape else ()) for name, shape in shapes.items()
    ], align=True)


@cache
def body_dtype(lanes: tuple[int, ...] = ()) -> np.dtype[np.void]:
    """Return the dtype of the record; lanes are () for one sample, (k,) for k side by side."""
    written_by_kernels = [
        ('E', np.float64, (3, 3, *lanes)),      # X_up at the present q
        ('r', np.float64, (3, *lanes)),
        ('v', np.float64, (6, *lanes)),         # spatial velocity, acceleration, force
        ('a', np.float64, (6, *lanes)),
        ('f', np.float64, (6, *lanes)),
        ('f_ext', np.float64, (6, *lanes)),
        ('R', np.float64, (3, 3, *lanes)),      # pose in the base: rotation, origin
        ('p', np.float64, (3, *lanes)),
    ]
    return np.dtype([*_CONSTANTS_OF_THE_TREE, *written_by_kernels], align=True)


BODY = body_dtype()


def body_records(bodies: Records, lanes: tuple[int, ...] = ()) -> Records:
    """Return a workspace's records of a tree's bodies, with lanes: their constants, and zeros."""
    records = np.zeros(len(bodies), dtype=body_dtype(lanes))
    for field in _CONSTANTS_OF_THE_TREE:
        name = str(field[0])
        records[name] = bodies[name]
    return records
