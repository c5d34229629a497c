# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""Samples in rows: their checks, and the computation of results in blocks, on several cores."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial
import os

import numpy as np
from numpy.typing import ArrayLike

from ...arrays import Array, real_array, whole_number
from ...dynamics import BatchWorkspace, batch_kernels, with_unit_quaternions
from ...dynamics.kernels import BASE
from ...errors import InputError, SingularityError
from ..model_data import ModelData

BLOCK = 8192  # samples that a thread computes at a time; its memory is proportional to it


def checked_samples(model: ModelData, given: dict[str, ArrayLike]) -> dict[str, Array]:
    """Return arrays by argument name, the positions first, after a check of their shapes."""
    arrays = {name: real_array(name, values) for name, values in given.items()}
    for name, array in arrays.items():
        width = model.nq if name == 'q' else model.nv
        rows = len(arrays['q']) if arrays['q'].ndim else 0
        if array.shape != (rows, width):
            raise InputError(name, f'has shape {array.shape}, not ({rows}, {width})')
    return arrays


def computed_rows(
    model: ModelData, arrays: dict[str, Array], shape: tuple[int, ...], threads: int | None,
    kernel: Callable[..., int], one_row: Callable[..., Array],
) -> Array:
    """
    Return the results of all rows, each of a shape, computed in blocks by a kernel.

    ``one_row`` computes the rows that the kernel cannot; the positions come first in ``arrays``.
    """
    count = len(arrays['q'])
    result = np.empty((count, *shape))
    flat = result.reshape(count, int(np.prod(shape)))
    threads = _usable_cores() if threads is None else whole_number('threads', threads, 1)

    def work(starts: Iterator[int]) -> None:
        workspace = BatchWorkspace(model.thread.workspace.bodies[BASE], model.tree.bodies)
        for start in starts:
            block, results = _block(model, arrays, start), flat[start : start + BLOCK]
            bad = kernel(workspace, *block, results)
            if bad != batch_kernels.NO_BAD_SAMPLE:
                _compute_one_by_one(partial(one_row, model), block, results, max(bad, 0), start)

    starts = iter(range(0, count, BLOCK))  # one iterator for all threads
    # Starting a thread takes as long as one or two blocks.
    workers = min(threads, count // (4 * BLOCK))
    if workers <= 1:
        work(starts)
        return result
    with ThreadPoolExecutor(workers) as pool:
        for finished in [pool.submit(work, starts) for _ in range(workers)]:
            finished.result()
    return result


def _block(model: ModelData, arrays: dict[str, Array], start: int) -> list[Array]:
    """Return the samples of one block, with quaternions checked."""
    block = [
        # Writable: kernels would be compiled anew for read-only arrays.
        np.require(array[start : start + BLOCK], np.float64, ('C', 'W'))
        for array in arrays.values()
    ]
    if model.quaternions:
        block[0] = np.array([
            with_unit_quaternions(f'q[{start + i}]', row.copy(), model.quaternions)
            for i, row in enumerate(block[0])
        ])
    return block


def _compute_one_by_one(
    one_row: Callable[..., Array], block: list[Array], results: Array, first: int, start: int
) -> None:
    """Compute a block from a row on: angles too large for SIMD, and those in error."""
    for i in range(first, len(results)):
        try:
            results[i] = one_row(*(array[i] for array in block)).reshape(-1)
        except InputError as error:
            raise InputError(f'{error.argument}[{start + i}]', error.reason) from None
        except SingularityError as error:
            reason = f'{error.reason} in sample {start + i}'
            raise SingularityError(error.element, reason) from None


def _usable_cores() -> int:
    if hasattr(os, 'sched_getaffinity'):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
