# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""What is refused for its time, and not for what is in it."""

from __future__ import annotations

from ..errors import RneaError


class NotNowError(RneaError):
    """
    A trajectory came at a time when none can be taken.

    :param word: why, for diagnostics
    :param detail: why, in words
    """

    def __init__(self, word: str, detail: str) -> None:
        super().__init__(f'{word}: {detail}')
        self.word = word
