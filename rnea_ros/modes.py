# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""
The names of the control laws, for launch files: the laws themselves load the compiler.

The package of the laws checks this list when it is imported.
"""

MODES = (
    'gravity', 'feedforward', 'computed_torque', 'feedback', 'gravity_feedback',
    'cartesian_impedance',
)
"""Values of the parameter ``mode``, in the order of the laws' definition."""
