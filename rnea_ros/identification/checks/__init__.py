# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""Clear answers to recordings that cannot be used."""

from .fits import check_fit
from .loads import check_same_load
from .runs import check_runs

__all__ = ['check_fit', 'check_runs', 'check_same_load']
