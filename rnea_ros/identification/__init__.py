# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""Identification: recordings and a URDF to a model that fits the arm."""
