# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""Comparison of results that are the same in exact arithmetic."""

from typing import Any

import numpy as np


def assert_equal(actual: Any, expected: Any, label: str = '', atol: float = 1e-10) -> None:
    """Assert that numbers are the same but for rounding errors."""
    actual, expected = np.asarray(actual, np.float64), np.asarray(expected, np.float64)
    np.testing.assert_allclose(actual, expected, rtol=1e-9, atol=atol, err_msg=label)
