# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""A table of text."""

from __future__ import annotations

from collections.abc import Sequence


def text_table(rows: Sequence[Sequence[str]]) -> str:
    """
    Return rows with aligned columns, the first one to the left.

    :param rows: rows of equal length, the header first
    """
    widths = [max(len(row[k]) for row in rows) for k in range(len(rows[0]))]
    lines = [
        '  '.join(
            cell.ljust(width) if k == 0 else cell.rjust(width)
            for k, (cell, width) in enumerate(zip(row, widths, strict=True))
        )
        for row in rows
    ]
    lines.insert(1, '  '.join('-' * width for width in widths))
    return '\n'.join(lines)
