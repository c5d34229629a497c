# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""How fast the dynamics are, beside other libraries on the same machine: ``make bench``."""
