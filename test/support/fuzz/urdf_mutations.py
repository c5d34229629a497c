# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""Random faults in the text of real robots."""

from random import Random
import re

ATTRIBUTE = re.compile(r'\s[\w:.-]+\s*=\s*("[^"]*"|\'[^\']*\')')
TAG = re.compile(r'<[^<>]*>')
ELEMENT = re.compile(r'<(\w+)\b[^<>]*/>|<(\w+)\b[^<>]*>.*?</\2>', re.DOTALL)
NUMBER = re.compile(r'-?\d+\.?\d*(?:[eE][-+]?\d+)?')

VALUES = (
    '', '0', '-1', '1', '1e308', '-1e308', '1e-320', 'nan', 'inf', '1e400', 'x', '0 0 0', '0 0',
    '1e308 -1e308 1e308', '1_0', '\uff11', 'fixed', 'floating', 'planar', 'prismatic',
    'continuous', 'link_0', 'joint_1', '&lt;', '&#0;', '\u0000', '\ud800', '${pi}', 'a' * 5000,
)
STRETCHES = (
    '<', '>', '/', '"', '&', ']]>', '<![CDATA[', '<!--', '?>', '<!DOCTYPE r [<!ENTITY a "b">]>',
    '\x00', '<?xml version="1.0" encoding="utf-16"?>', ' xmlns="a"', ' xacro:a="b"', '<x:link',
    '<xacro:if value="1">', '<a>' * 300, '<link name="lone"/>', '<axis xyz="0 0 0"/>',
    '<inertial/>',
)
FACTORS = (-1.0, 0.0, 1e-300, 1e30, 1e160, 1e300)


def mutated(random: Random, text: str, other: str) -> str:
    """Return a robot's text with one to four faults, some of them parts of another URDF."""
    for _ in range(random.choice((1, 1, 2, 4))):
        text = _mutation(random, text, other)
    return text


def _mutation(random: Random, text: str, other: str) -> str:
    def span(pattern: re.Pattern[str], of: str = text, group: int = 0) -> tuple[int, int]:
        """Return a random match near a random place; an empty span where there is none."""
        start = random.randrange(len(of) + 1)
        match = pattern.search(of, start) or pattern.search(of)
        return match.span(group) if match else (start, start)

    def replaced(place: tuple[int, int], new: str) -> str:
        return text[: place[0]] + new + text[place[1] :]

    value, element = span(ATTRIBUTE, group=1), span(ELEMENT)
    attribute, number, tag = map(span, (ATTRIBUTE, NUMBER, TAG))
    place = random.randrange(len(text) + 1)
    inside = text[slice(*element)][:2000]
    (a, b), (c, d) = sorted((value, span(ATTRIBUTE, group=1)))
    scaled = float(text[slice(*number)] or 0.0) * random.choice(FACTORS)
    return random.choice((
        *3 * [replaced(value, f'"{random.choice(VALUES)}"')],
        replaced(attribute, random.choice((0, 2)) * text[slice(*attribute)]),
        *2 * [text[:a] + text[c:d] + text[b:c] + text[a:b] + text[d:] if b <= c else text],
        *2 * [replaced(number, repr(scaled))],
        replaced(element, random.choice((0, 2, 50)) * inside),
        replaced((tag[0], tag[0]), inside),
        replaced((tag[0], tag[0]), other[slice(*span(ELEMENT, other))]),
        replaced((place, min(place + random.randrange(40), len(text))), random.choice(STRETCHES)),
        replaced((tag[1], tag[1]), random.choice(STRETCHES)),
        random.choice((text[:place], text[place:])),
    ))
