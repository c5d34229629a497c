# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""Feedforward nodes in a browser: the robots, their efforts and states, and what can be tuned."""
