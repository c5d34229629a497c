# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""
Show feedforward nodes in a browser, and change what can be changed while an arm is on.

Changes go through the node's parameters, which it checks and blends; a refusal is shown with its
reason. Buttons tare, move to the rest pose, and ramp down to zero.

The page has no password: only this computer, but every user of it, can open it. From another one:
ssh -L 8080:localhost:8080 THIS_COMPUTER, then http://localhost:8080.

Exit code: 0 ended by Ctrl-C; 2 not possible.
"""

from __future__ import annotations

from contextlib import suppress
import socket
import sys

from ..command_line import OneLineParser, tool
from ..errors import RneaError
from ..interrupts import interrupts_held
from .arguments import needs_ros

LOCAL = ('127.0.0.1', 'localhost')
PERIOD = 0.05  # between two pictures, s


class PanelError(RneaError):
    """The page cannot be served."""


@tool
def main(args: list[str] | None = None) -> int:
    """Serve the page until Ctrl-C; return the exit code."""
    parser = OneLineParser(
        prog='panel', description=__doc__,
        epilog='example: panel; two arms: panel --node left/feedforward right/feedforward',
    )
    add = parser.add_argument
    add('--node', nargs='+', default=['feedforward'], help='names of the nodes; feedforward')
    add('--read-only', action='store_true', help='change nothing')
    add('--host', default=LOCAL[0], help=f'address to serve, without a password; {LOCAL[0]}')
    add('--port', type=int, default=8080, help='8080, or the next free one')
    options = parser.parse(args)
    if not 1 <= options.port <= 65535:
        parser.error(f'--port {options.port} is not between 1 and 65535')
    try:  # viser would wait without end
        socket.create_server((options.host, 0)).close()
    except OSError as error:
        raise PanelError(f'--host {options.host}: {error}') from error
    with needs_ros('the panel needs'):
        from ..live import live_node
    try:
        from ..panel.server import Server
    except ModuleNotFoundError:
        raise PanelError('viser is not installed: pip install viser') from None
    from ..panel.node import WatchedNode
    from ..panel.page import Page

    with live_node('panel', options.ros_arguments) as live:
        nodes = [WatchedNode(live, name) for name in dict.fromkeys(options.node)]
        server = Server(options.host, options.port)
        if options.host not in LOCAL and not options.read_only:
            print('WARNING: no password: everybody in the network can change the control. Safer: '
                  'ssh, see --help')
        name = 'localhost' if options.host in (*LOCAL, '0.0.0.0') else options.host
        address = f'http://{name}:{server.get_port()}'
        print(f'open {address}; Ctrl-C ends the panel, not the control', flush=True)
        page = Page(server, nodes, read_only=options.read_only)
        with suppress(KeyboardInterrupt):
            while True:
                live.spin(PERIOD)
                with interrupts_held():
                    page.update()
        server.stop()
    return 0


if __name__ == '__main__':
    sys.exit(main())
