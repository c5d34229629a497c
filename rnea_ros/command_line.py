# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""Command lines: one-line errors, a node's help, quiet end on a closed pipe, progress, tables."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
import functools
import inspect
import json
import os
from pathlib import Path
import sys
import textwrap
import threading
import time
from typing import Any, NoReturn

from .errors import MAX_TEXT, RneaError, brief, clipped
from .files import FileError, check_writable
from .interrupts import INTERRUPTED, interruptible

BAD_INPUT = 2  # exit code for bad arguments and files
CLOSED_PIPE = 141  # exit code if the output's reader has ended: 128 + SIGPIPE

PROGRESS = 5.0  # between lines of progress, s; on a terminal a tenth

ROS_ARGUMENTS = '--ros-args'

SET_PARAMETERS = """\
Set them after --ros-args, with -p NAME:=VALUE or --params-file FILE. docs/interface.md lists
ranges and topics; `ros2 param describe` shows the parameters of a running node."""


def target(text: str) -> Path:
    """Return the path of a file that can be written, for argparse."""
    try:
        check_writable(Path(text))
    except FileError as error:
        raise argparse.ArgumentTypeError(str(error)) from None
    return Path(text)


class OneLineParser(argparse.ArgumentParser):
    """Rejects arguments with one line; keeps the line breaks of its description."""

    def __init__(self, **options: Any) -> None:
        super().__init__(formatter_class=argparse.RawDescriptionHelpFormatter, **options)

    def error(self, message: str) -> NoReturn:
        """Print what is wrong and exit."""
        self.exit(BAD_INPUT, f'{self.prog}: {clipped(message, MAX_TEXT)} (see --help)\n')

    def parse_args(  # type: ignore[override]
        self, args: list[str] | None = None
    ) -> argparse.Namespace:
        """Return the arguments, without control characters that would forge lines of output."""
        return self._with_own_targets(super().parse_args(self._checked(args)))

    def _checked(self, args: list[str] | None) -> list[str]:
        arguments = sys.argv[1:] if args is None else args
        for argument in arguments:
            if argument != clipped(argument, MAX_TEXT):
                self.error(f'{brief(argument)} is too long or has control characters')
        return arguments

    def _with_own_targets(self, options: argparse.Namespace) -> argparse.Namespace:
        """Return options of which none would replace the file of another, or the URDF."""
        sources: dict[str, str] = {}
        for name in ('urdf', *(action.dest for action in self._actions if action.type is target)):
            path = getattr(options, name, None)
            # Devices and pipes take several texts.
            if path is not None and (os.path.isfile(path) or not os.path.exists(path)):
                source = sources.setdefault(os.path.realpath(path), name)
                if source != name:
                    option, other = (f'--{each.replace("_", "-")}' for each in (name, source))
                    self.error(f'{option} would replace {path} of {other}; name another file')
        return options

    def parse(self, args: list[str] | None, *, intermixed: bool = False) -> argparse.Namespace:
        """
        Return the arguments, of the process for None; ``ros_arguments`` are those of ROS.

        ROS arguments begin at ``--ros-args`` and end at ``--`` or at the end of the line.

        :param intermixed: whether several positional arguments may have options between them
        """
        own: list[str] = []
        ros: list[str] = []
        for argument in sys.argv[1:] if args is None else args:
            inside = bool(ros) and ros[-1] != '--'
            (ros if inside or argument == ROS_ARGUMENTS else own).append(argument)
        parse = self.parse_intermixed_args if intermixed else self.parse_args
        options = self._with_own_targets(parse(self._checked(own)))
        options.ros_arguments = ros
        return options


def tool(main: Callable[[list[str] | None], int]) -> Callable[..., int]:
    """
    Return the main function of a tool, ending with one line after an error or Ctrl-C.

    It ends quietly if its output is closed, which is usual: ``check_trajectory ... | head``. The
    file of ``main`` has the tool's name.
    """
    name = Path(inspect.getfile(main)).stem

    @functools.wraps(main)
    def quiet_main(args: list[str] | None = None) -> int:
        try:
            try:
                with interruptible():
                    return main(args)
            finally:
                sys.stdout.flush()  # also before --help exits
        except BrokenPipeError:
            # Python flushes standard output once more at its end.
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            return CLOSED_PIPE
        except KeyboardInterrupt:
            print(f'{name}: interrupted', file=sys.stderr)
            return INTERRUPTED
        except RneaError as error:
            print(f'{name}: {error}', file=sys.stderr)
            return BAD_INPUT

    return quiet_main


class Progress:
    """Shows how far long work is: a line now and then; on a terminal one line, replaced."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock, self._replaces, self._shown = clock, sys.stdout.isatty(), False
        self._interval = 0.1 * PROGRESS if self._replaces else PROGRESS
        self._due = clock() + self._interval

    def show(self, text: str) -> None:
        """Show a text if a line is due."""
        if self._clock() >= self._due:
            self._due, self._shown = self._clock() + self._interval, True
            print(f'\r{text:<79}' if self._replaces else text,
                  end='' if self._replaces else '\n', flush=True)

    def share(self, done: float, text: str) -> None:
        """Show a share of the work, and a text."""
        self.show(f'{min(1.0, done):4.0%}: {text}')

    def end(self) -> None:
        """Let the next output begin in a new line."""
        if self._replaces and self._shown:
            print(flush=True)


@contextmanager
def elapsed_shown(work: str) -> Iterator[None]:
    """Show the elapsed time of work that cannot tell how far it is, while the block runs."""
    progress, begin, ended = Progress(), time.monotonic(), threading.Event()

    def show() -> None:
        while not ended.wait(0.1 * PROGRESS):
            progress.show(f'{work}: {time.monotonic() - begin:.0f} s')

    thread = threading.Thread(target=show, daemon=True)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()
        progress.end()


def node_parser(
    prog: str, description: str, parameters: Mapping[str, tuple[Any, str]]
) -> OneLineParser:
    """Return the parser of a node; parameters: default (None if unset) and description."""
    rows = [
        textwrap.fill(f'{name} ({_yaml(default)}): {text}', 95, subsequent_indent='    ')
        for name, (default, text) in parameters.items()
    ]
    table = textwrap.indent('\n'.join(rows), '  ')
    return OneLineParser(
        prog=prog,
        usage=f'{prog} [-h] [{ROS_ARGUMENTS} [-p NAME:=VALUE] [--params-file FILE] ...]',
        description=description,
        epilog=f'parameters and their defaults:\n{table}\n\n{SET_PARAMETERS}',
    )


def _yaml(default: Any) -> str:
    """Return a default value as it is written in a parameter file."""
    return 'unset' if default is None else json.dumps(default).replace('Infinity', '.inf')


def text_table(rows: Sequence[Sequence[str]], left: Collection[int]) -> str:
    """Return rows of cells as aligned text, with a line below the first; some columns ``left``."""
    rows = [[*map(clipped, row)] for row in rows]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = [
        '  '.join(
            cell.ljust(width) if k in left else cell.rjust(width)
            for k, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in rows
    ]
    lines.insert(1, '  '.join('-' * width for width in widths))
    return '\n'.join(lines)
