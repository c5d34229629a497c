# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""
Show feedforward nodes in a browser, and change what can be changed while an arm is on.

The node checks and blends each change, and refuses with a reason.
The page has no password: only this computer, but every user of it, can open it. From another one:
ssh -L 8080:localhost:8080 THIS_COMPUTER, then http://localhost:8080.

Exit code: 0 ended by Ctrl-C; 2 not possible.
"""

from __future__ import annotations

from contextlib import suppress
import socket
import sys

from ..command_line import OneLineParser, tool
from ..interrupts import interrupts_held

LOCAL = ('127.0.0.1', 'localhost')


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
        parser.error(f'--host {options.host}: {error}')
    try:
        from ..live import live_node
        from ..panel.node import WatchedNode
        from ..panel.page import PERIOD, Page
        from ..panel.viewer import Scene, Server
    except ModuleNotFoundError as error:
        parser.error(f'the panel needs ROS and viser (pip install viser): {error}')

    with live_node('panel', options.ros_arguments) as live:
        nodes = [WatchedNode(live, x, options.read_only) for x in dict.fromkeys(options.node)]
        server = Server(options.host, options.port)
        robots = [*dict.fromkeys(node.namespace for node in nodes)]
        tabs, pages, port = server.gui.add_tab_group(), [], server.get_port()
        for k, node in enumerate(nodes):
            place = (0.0, 1.0 * robots.index(node.namespace), 0.0)  # robots are 1 m apart
            with tabs.add_tab(node.full_name.lstrip('/')):
                pages.append(Page(server, node, Scene(server, f'robot_{k}', place)))
        if options.host not in LOCAL:
            print('WARNING: no password: the page is open to everybody in the network. Safer: no '
                  f'--host, and from there: ssh -L {port}:localhost:{port} {socket.gethostname()}')
        name = 'localhost' if options.host in (*LOCAL, '0.0.0.0') else options.host
        print(f'open http://{name}:{port}; Ctrl-C ends the panel, not the control', flush=True)
        with suppress(KeyboardInterrupt):
            while True:
                live.spin(PERIOD)
                with interrupts_held():
                    for page in pages:
                        page.update()
        server.stop()
    return 0


if __name__ == '__main__':
    sys.exit(main())
