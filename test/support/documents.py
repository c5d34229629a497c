# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""
What is in the Markdown documents: blocks of code, commands, headings, links.

A comment on the line before a block, which no reader sees, says what the test is to know:

- ``<!-- needs: ros2 robot -->``: it runs only where there is all that, see :data:`NEEDS`;
- ``<!-- file: motion.yaml -->``: the document's shell blocks find it as a file of that name.

Shell blocks run where the repository's files are, and what they may call ``robot.urdf`` and
``BAG`` too: a robot and a recording of it.
"""

from collections import Counter
from dataclasses import dataclass
from pathlib import Path
import re
import shlex

from support.models.robots import ROOT

SETUP = (ROOT / 'setup.py').read_text(encoding='utf-8')
EXECUTABLES = dict(re.findall(r"'(\w+)': '(rnea_ros(?:\.\w+)+)'", SETUP))
"""Module by name of each program."""

DOCUMENTS = (
    *(ROOT / name for name in ('README.md', 'CONTRIBUTING.md', 'examples/README.md')),
    *sorted(ROOT.glob('docs/**/*.md')),
)

NEEDS = {
    'ros2': "ROS 2's command line and the package, installed", 'robot': 'a robot that is up',
    'terminals': 'several terminals', 'workspace': 'a workspace to build in', 'time': 'minutes',
}
"""What a block may need beyond a checkout and what the tests need."""

SHELL = ('bash', 'sh', 'shell', 'console')
LANGUAGES = ('python', *SHELL, 'yaml', 'xml', 'text', '')
"""A block without a language is text: output, or a formula."""

FENCE = re.compile(
    r'(?:^ *<!-- (?P<mark>\w+): (?P<values>[^>\n]*) -->\n)?'
    r'^ *```(?P<language>[^\n]*)\n(?P<code>.*?)^ *```$',
    re.DOTALL | re.MULTILINE,
)


@dataclass(frozen=True)
class Block:
    """
    A fenced block of a document.

    :param document: its path in the repository
    :param line: of its fence
    :param language: that the fence names
    :param code: its text
    :param needs: what it needs, of :data:`NEEDS`
    :param file: the name under which other blocks find it, empty for none
    """

    document: str
    line: int
    language: str
    code: str
    needs: tuple[str, ...] = ()
    file: str = ''

    def __str__(self) -> str:
        return f'{self.document}:{self.line}'

    @property
    def commands(self) -> list[str]:
        """The lines of a shell block, continued ones joined; of a console's those after ``$``."""
        lines = self.code.replace('\\\n', ' ').splitlines()
        if self.language == 'console':
            lines = [line[2:] for line in lines if line.startswith('$ ')]
        return [line for line in lines if line.strip()]


def blocks_of(text: str, document: str) -> list[Block]:
    """
    Return the blocks of a document.

    :param text: of the document
    :param document: its name
    :raises ValueError: a language or a mark is unknown
    """
    found = []
    for match in FENCE.finditer(text):
        line = text.count('\n', 0, match.start('language')) + 1
        language, mark = match['language'].strip(), match['mark']
        values = tuple((match['values'] or '').split())
        if re.fullmatch(r'\{[\w-]+\}.*', language):
            language = ''  # a directive of Sphinx's
        if language not in LANGUAGES:
            raise ValueError(f'{document}:{line}: {language!r} is none of {LANGUAGES}')
        if mark not in (None, 'needs', 'file'):
            raise ValueError(f'{document}:{line}: unknown mark {mark!r}')
        if mark == 'needs' and not (values and set(values) <= NEEDS.keys()):
            raise ValueError(f'{document}:{line}: {values} is not of {tuple(NEEDS)}')
        needs = values if mark == 'needs' else ()
        file = values[0] if mark == 'file' else ''
        found.append(Block(document, line, language, match['code'], needs, file))
    return found


def blocks(path: Path) -> list[Block]:
    """Return the blocks of a document of the repository."""
    return blocks_of(path.read_text(encoding='utf-8'), str(path.relative_to(ROOT)))


def words(command: str) -> list[str]:
    """Return the words of a command, comments left out; nothing where it is no command."""
    try:
        return shlex.split(command, comments=True)
    except ValueError:
        return []


def commands(path: Path) -> list[list[str]]:
    """Return the words of every command in a document: of shell blocks, and within its text."""
    shell = [block for block in blocks(path) if block.language in SHELL]
    prose = FENCE.sub('', path.read_text(encoding='utf-8'))
    lines = [line for block in shell for line in block.commands]
    lines += re.findall(r'`([^`]+)`', prose)
    return [words(part) for line in lines for part in re.split(r'&&|\|\||;', line)]


def anchors(path: Path) -> set[str]:
    """Return what the headings of a document are linked to by, as GitHub makes it."""
    prose = FENCE.sub('', path.read_text(encoding='utf-8'))
    found = set(re.findall(r'<a (?:name|id)="([^"]+)"', prose))
    times: Counter[str] = Counter()
    for heading in re.findall(r'^#+ +(.+?) *#*$', prose, re.MULTILINE):
        shown = re.sub(r'\[([^]]*)\]\([^)]*\)', r'\1', heading)
        anchor = re.sub(r'[^\w\- ]', '', shown.lower()).replace(' ', '-')
        found.add(f'{anchor}-{times[anchor]}' if times[anchor] else anchor)
        times[anchor] += 1
    return found


def links(path: Path) -> list[str]:
    """Return where the links and pictures of a document lead, those to the web left out."""
    prose = re.sub(r'`[^`\n]*`', '', FENCE.sub('', path.read_text(encoding='utf-8')))
    found = re.findall(r'\]\(\s*<?([^)\s>]+)', prose)
    found += re.findall(r'^\[[^]]+\]: *(\S+)', prose, re.MULTILINE)
    found += re.findall(r'<(?:img|a) [^>]*(?:src|href)="([^"]+)"', prose)
    return [link for link in found if not re.match(r'[a-z]+:', link)]
