# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""Code in the documents runs; programs, arguments, parameters and functions they name exist."""

import ast
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import partialmethod
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
import re
import shlex
from typing import Any, NamedTuple

import pytest

from rnea_ros.command_line import OneLineParser
from rnea_ros.feedforward import Reason, State
from rnea_ros.feedforward.motion import TrajectoryReason
from rnea_ros.feedforward.settings import StaleAction
from rnea_ros.tools import check_trajectory
from support.cases import each
from support.models.robots import ROOT
from support.recorded.synthetic_recordings import PANDA_ARM
from support.ros.ros_process import NO_ROS

DOCS = ROOT / 'docs'
PAGES = {
    str(page.relative_to(ROOT)): page.read_text(encoding='utf-8')
    for page in (
        *(ROOT / name for name in ('README.md', 'CONTRIBUTING.md', 'examples/README.md')),
        *sorted(DOCS.glob('**/*.md')),
    )
}
SETUP = (ROOT / 'setup.py').read_text(encoding='utf-8')
EXECUTABLES = dict(re.findall(r"'(\w+)': '(rnea_ros(?:\.\w+)+)'", SETUP))
FENCE = re.compile(
    r'^(?:<!-- file: (?P<file>\S+) -->\n)? *```(?P<language>\w*)\n(?P<code>.*?)^ *```$',
    re.DOTALL | re.MULTILINE,
)


class Block(NamedTuple):
    """A fenced block of code; ``file`` is the name by which the page's commands call it."""

    page: str
    file: str | None
    language: str
    code: str


BLOCKS = [Block(page, *m.groups()) for page, text in PAGES.items() for m in FENCE.finditer(text)]
SHELL = [block for block in BLOCKS if block.language in ('bash', 'sh', 'shell', 'console')]


def commands_of(text: str) -> Iterator[list[str]]:
    """Yield the words of every command; comments and prompts are left out."""
    text = re.sub(r'\$\([^)]*\)', '/found', text.replace('\\\n', ' '))
    for line in text.splitlines():
        for part in re.split(r'&&|\|\||[;|]', line.removeprefix('$ ')):
            with suppress(ValueError):  # not a command: a quotation mark is an apostrophe
                yield shlex.split(part, comments=True)


TYPED = [(b.page, words) for b in SHELL for words in commands_of(b.code)]
COMMANDS = TYPED + [
    (page, words)
    for page, text in PAGES.items()
    for mention in re.findall(r'`([^`\n]+)`', FENCE.sub('', text))
    for words in commands_of(mention)
]


def program(words: list[str]) -> tuple[str, list[str]] | None:
    """Return the module that a command starts, with its arguments."""
    if words[:3] == ['ros2', 'run', 'rnea_ros'] and words[3:] and words[3] != '<name>':
        return EXECUTABLES[words[3]], words[4:]
    if words[1:2] == ['-m'] and re.match(r'rnea_ros\.[\w.]+$', words[2]):
        return words[2], words[3:]
    return None


@pytest.mark.parametrize('page', sorted({b.page for b in BLOCKS if b.language == 'python'}))
def test_python_of_a_page_runs(page: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    code = '\n'.join(b.code for b in BLOCKS if (b.page, b.language) == (page, 'python'))
    names: dict[str, Any] = {}
    exec(compile(code, page, 'exec'), names)
    for test in (value for name, value in names.items() if name.startswith('test_')):
        test()


def test_tools_on_the_pages_exist_and_take_the_arguments(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    pytest.importorskip('rclpy', reason=NO_ROS)

    class Parsed(BaseException):
        """Arguments were accepted; what they start does not run."""

    def only(parser: OneLineParser, parse: Callable[..., object], arguments: list[str]) -> None:
        parse(parser, arguments)
        raise Parsed

    for method in ('parse_args', 'parse_intermixed_args'):
        only_parse = partialmethod(only, getattr(OneLineParser, method))
        monkeypatch.setattr(OneLineParser, method, only_parse)
    monkeypatch.chdir(tmp_path)
    started = [found for _, words in TYPED if (found := program(words))]
    tools = [found for found in started if '.tools.' in found[0]]
    assert len(tools) > 20
    for module, arguments in tools:
        with pytest.raises(Parsed):
            import_module(module).main(arguments)


def test_nodes_on_the_pages_exist_and_have_the_parameters() -> None:
    pytest.importorskip('rclpy', reason=NO_ROS)
    declared = {
        'feedforward_node': 'feedforward.settings', 'simulated_robot': 'sim.options',
        'effort_watchdog': 'watchdog.silence',
        'trajectory_effort_node': 'trajectory_effort.planner',
    }
    for page, words in COMMANDS:
        module, arguments = program(words) or ('rnea_ros.node', [])
        assert find_spec(module), page
        name = module.rpartition('.')[2]
        if name in declared:
            known = import_module(f'rnea_ros.{declared[name]}').PARAMETERS
            given = {each.partition(':=')[0] for each in arguments if ':=' in each}
            assert given <= known.keys() | {'use_sim_time'}, page


def test_the_trajectory_on_its_page_is_one(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (block,) = (block for block in BLOCKS if block.file == 'motion.yaml')
    (tmp_path / 'motion.yaml').write_text(block.code, encoding='utf-8')
    monkeypatch.chdir(tmp_path)
    assert check_trajectory.main(['motion.yaml', '--urdf', str(PANDA_ARM)]) == 0


def test_simulations_that_pages_start_stay_off_the_network() -> None:
    starts = re.compile(
        r'^\S+ (run rnea_ros |-m rnea_ros\.sim\.)simulated_robot|^\S+ -m rnea_ros\.node\.'
        r'|^ros2 launch rnea_ros (simulation|gazebo)', re.MULTILINE
    )
    simulations = [block for block in SHELL if starts.search(block.code)]
    assert simulations
    for block in simulations:
        first = block.code.removeprefix('$ ')
        assert first.startswith('export ROS_AUTOMATIC_DISCOVERY_RANGE=LOCALHOST'), block.page


def test_launch_files_that_pages_start_take_the_arguments() -> None:
    pytest.importorskip('rclpy', reason=NO_ROS)
    from interface_reference import launch_arguments

    launch = ['ros2', 'launch', 'rnea_ros']
    starts = [(page, words) for page, words in COMMANDS if words[:3] == launch]
    assert starts
    for page, words in starts:
        given = {word.partition(':=')[0] for word in words[4:] if ':=' in word}
        assert given <= launch_arguments(ROOT / 'launch' / words[3]).keys(), page


def test_parameters_on_the_pages_exist() -> None:
    yaml = pytest.importorskip('yaml')
    text = (ROOT / 'config/feedforward.yaml').read_text(encoding='utf-8')
    known = set(re.findall(r'^    ([\w.]+):', text, re.MULTILINE))
    of_a_joint = re.compile(r'constraints\.\w+\.(trajectory|goal)')
    for block in BLOCKS:
        content = yaml.safe_load(block.code) if block.language == 'yaml' else {}
        for node in ('feedforward', '/**'):
            given = content.get(node, {}).get('ros__parameters', {})
            assert {name for name in given if not of_a_joint.fullmatch(name)} <= known, block.page
    for page, words in COMMANDS:
        if words[:4] == ['ros2', 'param', 'set', '/feedforward']:
            assert words[4] in known, page


def test_every_page_stands_in_a_table_of_contents() -> None:
    pages = {path.stem for path in (ROOT / 'docs').glob('*.md')}
    contents = (ROOT / 'docs' / 'index.md').read_text(encoding='utf-8').splitlines()
    assert pages - {*contents} == {'index'}


def test_functions_that_pages_link_stand_in_the_linked_files() -> None:
    link = re.compile(r'\[`(\w+)\.(\w+)`\]\(((?:\.\./)+rnea_ros/[^)]+\.py)\)')
    links = [(page, *found) for page, text in PAGES.items() for found in link.findall(text)]
    assert len(links) > 20
    for page, module, name, path in links:
        file = (ROOT / page).parent / path
        assert file.stem == module
        tree = ast.parse(file.read_text(encoding='utf-8'))
        assert name in {getattr(node, 'name', '') for node in tree.body}, f'{page}: {name}'


@each('reason', [reason.value for reason in Reason])
def test_troubleshooting_has_cause_and_remedy_of_every_reason(reason: str) -> None:
    text = PAGES['docs/troubleshooting.md'].partition('## By word')[2]
    ((cause, remedy),) = re.findall(rf'^\| `{reason}` \| (.+) \| (.*) \|$', text, re.MULTILINE)
    assert cause
    assert remedy


def test_the_pages_explain_every_word_of_the_log() -> None:
    pytest.importorskip('rclpy', reason=NO_ROS)
    from rnea_ros.watchdog.silence import Action, WatchState

    pages = ('control', 'trajectories', 'troubleshooting', 'watchdog')
    text = '\n'.join(PAGES[f'docs/{page}.md'] for page in pages)
    words = (*State, *StaleAction, *TrajectoryReason, *WatchState, *Action)
    # No message can cause these two: the node takes a cancel apart, and checks itself.
    assert {word.value for word in words if f'`{word.value}`' not in text} <= {
        'no_points', 'start_not_finite'
    }
