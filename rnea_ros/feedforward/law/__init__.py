# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""Efforts of single joints."""
