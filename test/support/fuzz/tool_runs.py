# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""
Random command lines of all tools, with broken and hostile files, each in a process of its own.

Prints each run that breaks a rule: exit codes 0, 1, 2, sentences instead of tracebacks, whole
files, below 1 GB, below 60 s (else exit code -14). One run in 50 starts a new interpreter.
From test/: ``python -m support.fuzz.tool_runs --runs 2000``; ``--runs 1 --seed N`` repeats run N.
"""

import argparse
from collections import Counter
from collections.abc import Sequence
from contextlib import suppress
from importlib import import_module
import multiprocessing
import os
from pathlib import Path
from random import Random
import resource
import shutil
import signal
from subprocess import CompletedProcess
import sys
import tempfile
import time

from support.fuzz.command_lines import command_line, fault, prepare, run
from support.fuzz.hostile_files import write_files, write_random_files, write_recording
from support.tools import EXECUTABLES

MAX_SECONDS, MAX_BYTES = 60, 10**9
NAMES: list[str] = []
PROGRAM = 'import sys; from {} import main; sys.exit(main())'


def process(line: str, folder: Path, *, new: bool) -> tuple[CompletedProcess[str], int]:
    """Run a tool in a child, or in a new interpreter; return its end and its memory, bytes."""
    texts = [folder / name for name in ('stdout', 'stderr')]
    name, *words = line.split(' ')
    for word in words:
        write_recording(folder, word.rpartition('=')[2])
    child = os.fork()
    if child == 0:
        signal.alarm(MAX_SECONDS)
        resource.setrlimit(resource.RLIMIT_DATA, (4 * MAX_BYTES, 4 * MAX_BYTES))
        for number, text in enumerate(texts, 1):
            os.dup2(os.open(text, os.O_WRONLY | os.O_CREAT | os.O_TRUNC), number)
        if new:
            os.chdir(folder)
            arguments = [sys.executable, '-c', PROGRAM.format(EXECUTABLES[name]), *words]
            os.execv(sys.executable, arguments)
        code = 255
        with suppress(BaseException):
            end = run(line, folder)
            for text, said in zip(texts, (end.stdout, end.stderr), strict=True):
                text.write_text(said, encoding='utf-8', errors='replace')
            code = end.returncode & 255
        os._exit(code)
    _, status, usage = os.wait4(child, 0)
    printed = [text.read_text(encoding='utf-8', errors='replace') for text in texts]
    code = os.waitstatus_to_exitcode(status)
    return CompletedProcess(line, code, *printed), 1024 * usage.ru_maxrss


def judged(seed: int) -> tuple[int, str, str, int, float, int]:
    """Return seed, command line, fault, exit code, seconds and memory of a run."""
    folder, random = Path.cwd(), Random(seed)
    line = command_line(random, [*NAMES, *4 * write_random_files(random, folder)])
    started = time.monotonic()
    end, memory = process(line, folder, new=seed % 50 == 0)
    seconds, wrong = time.monotonic() - started, fault(line, end, folder)
    if not wrong and memory > MAX_BYTES:
        wrong = f'{memory / 1e6:.0f} MB'
    return seed, line, wrong, end.returncode, seconds, memory


def _begin(parent: str) -> None:
    folder = Path(tempfile.mkdtemp(dir=parent))
    NAMES[:] = write_files(folder)
    prepare(folder)
    os.chdir(folder)


def main(arguments: Sequence[str] | None = None) -> None:
    """Print the runs that break a rule, and for each tool the exit codes, time and memory."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('--runs', type=int, default=200)
    parser.add_argument('--seed', type=int, default=0)
    parser.add_argument('--processes', type=int, default=os.cpu_count())
    options = parser.parse_args(arguments)
    for module in EXECUTABLES.values():
        with suppress(ImportError):
            import_module(module)
    parent = tempfile.mkdtemp()
    _begin(parent)
    for line in ('identify motion --urdf arm.urdf', 'replay motion --urdf arm.urdf'):
        run(line, Path.cwd())  # compile kernels, which may take longer than a run may
    codes, failed = Counter[str](), 0
    longest, largest = 0.0, 0
    seeds = range(options.seed, options.seed + options.runs)
    with multiprocessing.get_context('fork').Pool(options.processes, _begin, (parent,)) as pool:
        for seed, line, wrong, code, seconds, memory in pool.imap_unordered(judged, seeds):
            codes[f'{line.split(" ")[0]} {code}'] += 1
            longest, largest = max(longest, seconds), max(largest, memory)
            failed += bool(wrong)
            if wrong:
                print(f'{seed}: {line}\n  {wrong[-3000:]}', flush=True)
    shutil.rmtree(parent)
    print(*(f'{name}: {count}' for name, count in sorted(codes.items())), sep='\n')
    print(f'{failed} of {options.runs} runs broke a rule; at most {longest:.1f} s, '
          f'{largest / 1e6:.0f} MB')
    sys.exit(failed > 0)


if __name__ == '__main__':
    main()
