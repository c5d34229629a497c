# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""
Readable, slow formulations of the same dynamics, for learning and to check the kernels.

Each module is the formulation of one textbook, in plain numpy, with the book's symbols and
equation numbers; none of them calls a kernel. ``docs/development/formulations.md``
compares them.
"""
