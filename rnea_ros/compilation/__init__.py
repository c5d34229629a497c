# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""Compilation of kernels by numba, and their cache on disk."""

from .decorators import (
    COMPILED,
    batch_entry,
    compiled,
    entry,
    entry_point,
    from_template,
    kernel,
    kernels_exclude_threads,
)

__all__ = [
    'COMPILED', 'batch_entry', 'compiled', 'entry', 'entry_point', 'from_template',
    'kernel', 'kernels_exclude_threads',
]
