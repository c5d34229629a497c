# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""
Slow, readable formulations of the same dynamics: to learn from, and to check the kernels with.

Each module is one textbook's way to the joint efforts, in plain numpy, with the book's symbols and
equation numbers; none of them runs a kernel. ``docs/development/formulations.md`` puts them side
by side.
"""
