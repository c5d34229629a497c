# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""Bounds that several settings share, wider than any arm needs."""

# A number beyond them is a mistake of a unit or a digit, and products of such numbers might not be
# finite.

MAX_DURATION = 3600.0
"""Longest duration, s."""

MAX_GAIN = 1e6
"""Largest gain or friction, N m, N m/rad, N m s/rad, 1/s or 1/s^2."""
