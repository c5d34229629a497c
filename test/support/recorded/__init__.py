# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""Recordings of real arms, and made of arms that are known exactly."""
