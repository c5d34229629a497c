# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""The panel in a browser, with the node over DDS."""

from collections.abc import Iterator
from pathlib import Path
import re
import shutil
import socket
from typing import Any

import numpy as np
import pytest

from support.ros.fake_robot import GRAVITY, FakeRobot, node
from support.ros.ros_process import NO_ROS, PATIENCE, RosProcess, wait_until

pytest.importorskip('rclpy', reason=NO_ROS)
pytest.importorskip('viser', reason='viser is not installed')
playwright = pytest.importorskip('playwright.sync_api', reason='playwright is not installed')

pytestmark = pytest.mark.ros

BROWSERS = ('chromium', 'chromium-browser', 'google-chrome')
CHROMIUM = next(filter(None, map(shutil.which, BROWSERS)), '')
FLAGS = ('--no-sandbox', '--use-angle=swiftshader', '--enable-unsafe-swiftshader')


@pytest.fixture
def page(tmp_path: Path) -> Iterator[Any]:
    """Return a small page of a browser that draws by the processor, after all other processes."""
    if not CHROMIUM:
        pytest.skip('no Chromium')
    last = tmp_path / 'browser'
    last.write_text(f'#!/bin/sh\nexec nice -n 19 {CHROMIUM} "$@"\n')
    last.chmod(0o755)
    with playwright.sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=last, args=FLAGS)
        page = browser.new_page(viewport={'width': 640, 'height': 480})
        page.set_default_timeout(3e3 * PATIENCE)  # below 1 picture a second on a busy machine
        yield page
        browser.close()


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(('127.0.0.1', 0))
        return int(probe.getsockname()[1])


def test_a_browser_shows_and_changes_the_control(
    robot: FakeRobot, domain_id: int, page: Any
) -> None:
    port, errors = free_port(), []
    page.on('pageerror', lambda error: errors.append(str(error)))
    page.on('console', lambda line: errors.append(line.text) if line.type == 'error' else None)

    def shows(text: str) -> None:
        page.get_by_text(re.compile(text)).first.wait_for(state='attached')

    def enter(label: str, value: str) -> None:
        """Type a value into the field of an input."""
        place = f'xpath=//*[normalize-space(text())="{label}"]/following::input[@type="text"]'
        page.locator(place).first.fill(value)
        page.locator(place).first.press('Enter')

    panel = RosProcess('rnea_ros.tools.panel', '--port', str(port), domain_id=domain_id)
    with panel:
        panel.wait_for('ends the panel, not the control')
        page.goto(f'http://127.0.0.1:{port}')
        shows('no answer from /feedforward')
        with node(domain_id):
            robot.wait_until_controlled()
            shows('commands the control law')
            scene = np.frombuffer(page.locator('canvas').first.screenshot(), np.uint8)
            assert len(np.unique(scene)) > 100  # of a compressed picture: not of one colour
            assert wait_until(lambda: robot.newest_is(GRAVITY, 1e-6))

            page.get_by_role('slider').first.press('Home')
            shows(r'gravity_factor \[0\.0\]')
            assert wait_until(lambda: not robot.newest.any()), robot.newest

            page.get_by_role('slider').first.press('End')
            shows(r'gravity_factor \[2\.0\]')
            assert wait_until(lambda: robot.newest_is(2.0 * GRAVITY, 1e-6)), robot.newest

            enter('damping', '-5')
            shows('damping: -5.0 is not between 0 and')

            page.get_by_text('stop: ramp down to zero').click()
            shows('the node is inactive')
            assert not robot.newest.any()
        shows('no answer from /feedforward')
        with node(domain_id):
            robot.wait_until_controlled()
            shows('commands the control law')
        assert errors == []
