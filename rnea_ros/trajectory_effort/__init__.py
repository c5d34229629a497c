# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""The node ``trajectory_effort``: adds efforts to trajectories for a controller."""
