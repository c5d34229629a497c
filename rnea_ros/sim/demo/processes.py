# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""Start, watch and end the processes of the demo."""

from __future__ import annotations

import json
from pathlib import Path
import signal
import subprocess
import sys
from typing import IO

from ...files import write_file
from .arm import DemoError


class Processes:
    """Nodes in separate processes, with parameter files and logs in a directory."""

    def __init__(self, directory: Path) -> None:
        directory.mkdir(parents=True, exist_ok=True)
        self._directory = directory
        self._running: list[tuple[str, subprocess.Popen[bytes], IO[bytes]]] = []

    def start(self, name: str, module: str, parameters: dict[str, object], *files: Path) -> None:
        """Start a module as a named node, with ROS parameters and further parameter files."""
        values = self._directory / f'{name}.yaml'
        write_file(values, json.dumps({'/**': {'ros__parameters': parameters}}))
        output = (self._directory / f'{name}.log').open('wb')
        command = [sys.executable, '-m', module, '--ros-args']
        for file in (values, *files):
            command += ['--params-file', str(file)]
        process = subprocess.Popen(
            command, stdout=output, stderr=subprocess.STDOUT, start_new_session=True
        )
        self._running.append((name, process, output))

    def check(self) -> None:
        """Raise a DemoError if a process has ended."""
        for name, process, _ in self._running:
            if process.poll() is not None:
                log = self._directory / f'{name}.log'
                raise DemoError(f'{name} ended early, see {log}: {self.last_line(name)}')

    def last_line(self, name: str) -> str:
        """Return the last line of a process's output."""
        log = (self._directory / f'{name}.log').read_text(encoding='utf-8', errors='replace')
        return log.rstrip().rpartition('\n')[2]

    def stop(self) -> None:
        """End the processes in reverse order of their start."""
        for name, process, output in reversed(self._running):
            process.send_signal(signal.SIGINT)
            try:
                process.wait(timeout=15.0)
            except subprocess.TimeoutExpired:
                print(f'{name} did not end on SIGINT: killed', file=sys.stderr)
                process.kill()
                process.wait()
            output.close()
        self._running.clear()
