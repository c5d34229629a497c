# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""What both benchmarks share: command line, machine, tables, targets, parts of the page."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Mapping
from importlib import metadata
import os
from pathlib import Path
import platform
import re
import sys

from . import ROOT, BenchmarkError

DOCS = ROOT / 'docs'
PAGE = DOCS / 'development' / 'benchmarks.md'
PACKAGES = ('numpy', 'numba', 'pin', 'mujoco')
UNITS = (('ns', 1e9), ('\N{MICRO SIGN}s', 1e6), ('ms', 1e3), ('s', 1.0))


def run(part: str, measure: Callable[[bool], str], draw: Callable[[], None]) -> int:
    """
    Measure, print the report, and write it into the page; return the exit code.

    :param part: name of the page's part
    :param measure: returns the report; its argument is whether the run is a short one
    :param draw: writes the pictures of what was measured
    """
    parser = argparse.ArgumentParser()
    parser.add_argument('--quick', action='store_true', help='a short run; it writes nothing')
    parser.add_argument('--write', action='store_true', help='write benchmarks.md and pictures')
    options = parser.parse_args()
    try:
        report = measure(options.quick)
    except BenchmarkError as error:
        print(error, file=sys.stderr)
        return 1
    print(report)
    if options.write and not options.quick:
        rewrite(part, report)
        draw()
    return 0


def progress(what: str) -> None:
    """Say what is measured now."""
    print(f'measuring: {what}', file=sys.stderr, flush=True)


def rewrite(part: str, text: str) -> None:
    """Replace a part of the page, between ``<!-- part -->`` and ``<!-- end of part -->``."""
    pattern = rf'(?<=<!-- {part} -->\n).*?(?=<!-- end of {part} -->)'
    page, count = re.subn(
        pattern, lambda _: f'\n{text}\n\n', PAGE.read_text(encoding='utf-8'), flags=re.DOTALL
    )
    if count != 1:
        raise ValueError(f'{PAGE} has {count} parts called {part!r}, not one')
    PAGE.write_text(page, encoding='utf-8')


def table(cells: Mapping[tuple[str, str], str]) -> str:
    """Return a table of texts by row and column, both in the order of their first mention."""
    rows, columns = (list(dict.fromkeys(key[k] for key in cells)) for k in (0, 1))
    lines = [['', *columns], *([row, *(cells.get((row, column), '') for column in columns)]
                               for row in rows)]
    widths = [max(map(len, texts)) for texts in zip(*lines, strict=True)]
    rule = '|'.join('-' * (width + 1) + (':' if k else '-') for k, width in enumerate(widths))
    head, *body = [
        ' | '.join(text.rjust(width) if k else text.ljust(width)
                   for k, (text, width) in enumerate(zip(line, widths, strict=True)))
        for line in lines
    ]
    return '\n'.join([f'| {head} |', f'|{rule}|', *(f'| {line} |' for line in body)])


def verdict(reached: bool) -> str:
    """Return in words whether a target was reached."""
    return 'reached' if reached else '**not reached**'


def duration(seconds: float) -> str:
    """Return a time in the unit that gives it one to three digits before the point."""
    unit, scale = next((pair for pair in UNITS if seconds * pair[1] < 1000.0), UNITS[-1])
    return f'{seconds * scale:.3g} {unit}'


def machine() -> str:
    """Return processor, cores, Python and versions, in one line."""
    return ', '.join([
        _processor(), f'{len(os.sched_getaffinity(0))} cores',
        f'Python {platform.python_version()}',
        *(f'{name} {metadata.version(name)}' for name in PACKAGES),
    ])


def _processor() -> str:
    """Return the processor's name, and whether it has wide vectors."""
    path = Path('/proc/cpuinfo')
    lines = path.read_text(encoding='utf-8').splitlines() if path.exists() else []
    entries = {key.strip(): value.strip() for key, _, value in (x.partition(':') for x in lines)}
    name = entries.get('model name') or platform.processor() or platform.machine()
    return f'{name} (avx512f)' if 'avx512f' in entries.get('flags', '') else name
