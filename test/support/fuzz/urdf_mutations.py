# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""Random faults in the text of real robots."""

from collections.abc import Callable, Sequence
from random import Random
import re
from typing import TypeAlias

Mutation: TypeAlias = Callable[[Random, str, str], str]

ATTRIBUTE = re.compile(r'\s[\w:.-]+\s*=\s*("[^"]*"|\'[^\']*\')')
TAG = re.compile(r'<[^<>]*>')
ELEMENT = re.compile(r'<(\w+)\b[^<>]*/>|<(\w+)\b[^<>]*>.*?</\2>', re.DOTALL)
NAME = re.compile(r'</?[\w:]+')
NUMBER = re.compile(r'-?\d+\.?\d*(?:[eE][-+]?\d+)?')

VALUES = (
    '', '0', '-1', '1', '1e308', '-1e308', '1e154', '1e-320', '-7.6e-24', 'nan', 'inf', '-inf',
    '1e400', 'x', '0 0 0', '0 0', '1e308 -1e308 1e308', '1_0', '0x10', '\uff11', 'fixed',
    'floating', 'planar', 'prismatic', 'continuous', 'link_0', 'link_1', 'joint_1', '&lt;',
    '&#0;', '&#x10FFFF;', '&#xFFFE;', '\u0000', '\ud800', '${pi}', '$(arg a)', '1 ' * 50,
    'a' * 5000,
)
STRETCHES = (
    '<', '>', '/', '"', "'", '&', '&a;', ']]>', '<![CDATA[', '-->', '<!--', '<?a', '?>',
    '<!DOCTYPE r [<!ENTITY a "b">]>', '\ufeff', '\x00', '\r', '<?xml version="1.1"?>',
    '<?xml version="1.0" encoding="utf-16"?>', ' xmlns="a"', ' xmlns:xml="b"', ' xacro:a="b"',
    '<xacro:if value="1">', '<a>' * 300, '<link name="lone"/>', '<axis xyz="0 0 0"/>',
    '<inertial/>',
)
PREFIXES = ('x:', 'xacro:', 'drake:', ':', 'xmlns:', '-', 'X')


def mutated(random: Random, text: str, other: str) -> str:
    """
    Return a robot's text with one to four faults.

    :param random: source of the faults
    :param text: a URDF
    :param other: another URDF, whose parts are put into the first
    """
    for _ in range(random.choice((1, 1, 2, 4))):
        text = random.choice(MUTATIONS)(random, text, other)
    return text


def _span(random: Random, pattern: re.Pattern[str], text: str, group: int = 0) -> tuple[int, int]:
    """Return a random match near a random place; an empty span where there is none."""
    start = random.randrange(len(text) + 1)
    match = pattern.search(text, start) or pattern.search(text)
    return match.span(group) if match else (start, start)


def _value(random: Random, text: str, other: str) -> str:
    start, end = _span(random, ATTRIBUTE, text, 1)
    return f'{text[:start]}"{random.choice(VALUES)}"{text[end:]}'


def _attribute_gone_or_twice(random: Random, text: str, other: str) -> str:
    start, end = _span(random, ATTRIBUTE, text)
    return text[:start] + random.choice((0, 2)) * text[start:end] + text[end:]


def _exchanged(random: Random, text: str, other: str) -> str:
    (a, b), (c, d) = sorted(_span(random, ATTRIBUTE, text, 1) for _ in range(2))
    return text[:a] + text[c:d] + text[b:c] + text[a:b] + text[d:] if b <= c else text


def _number(random: Random, text: str, other: str) -> str:
    start, end = _span(random, NUMBER, text)
    factor = random.choice((-1.0, 0.0, 1e-300, 1e30, 1e160, 1e300))
    number = float(text[start:end] or 0.0) * factor
    return f'{text[:start]}{number!r}{text[end:]}'


def _element_gone_or_repeated(random: Random, text: str, other: str) -> str:
    start, end = _span(random, ELEMENT, text)
    return text[:start] + random.choice((0, 2, 50)) * text[start:end][:2000] + text[end:]


def _element_moved(random: Random, text: str, other: str) -> str:
    start, end = _span(random, ELEMENT, text)
    element, text = text[start:end], text[:start] + text[end:]
    place, _ = _span(random, TAG, text)
    return text[:place] + element + text[place:]


def _element_of_another(random: Random, text: str, other: str) -> str:
    start, end = _span(random, ELEMENT, other)
    place, _ = _span(random, TAG, text)
    return text[:place] + other[start:end] + text[place:]


def _name(random: Random, text: str, other: str) -> str:
    start, end = _span(random, NAME, text)
    name = text[start:end].lstrip('</')
    new = random.choice([prefix + name for prefix in PREFIXES] + ['joint', 'link', 'include', ''])
    return text.replace(f'{name} ', f'{new} ') if random.random() < 0.3 else (
        text[:start] + '<' + new + text[end:]
    )


def _overwritten(random: Random, text: str, other: str) -> str:
    start = random.randrange(len(text) + 1)
    return text[:start] + random.choice(STRETCHES) + text[start + random.randrange(40) :]


def _inserted(random: Random, text: str, other: str) -> str:
    place = _span(random, TAG, text)[random.randrange(2)]
    return text[:place] + random.choice(STRETCHES) + text[place:]


def _characters(random: Random, text: str, other: str) -> str:
    start = random.randrange(len(text) + 1)
    noise = ''.join(chr(random.choice((32, 60, 47, 34, random.randrange(0x3000)))) for _ in 'abcd')
    return text[:start] + noise + text[start + 4 :]


def _cut(random: Random, text: str, other: str) -> str:
    start = random.randrange(len(text) + 1)
    return random.choice((text[:start], text[start:], text[:start] + other))


MUTATIONS: Sequence[Mutation] = (
    _value, _value, _value, _attribute_gone_or_twice, _exchanged, _exchanged, _number, _number,
    _element_gone_or_repeated, _element_moved, _element_of_another, _name, _overwritten, _inserted,
    _characters, _cut,
)
