# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""Robots to test with, and the libraries that they are compared with."""
