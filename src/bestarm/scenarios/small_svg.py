"""Make the SVG that matplotlib writes three times smaller, without a visible change.

A report has dozens of figures in one file. Most of an SVG by matplotlib is styles repeated at every mark, groups of one
element, unused names, and digits below a hundredth of a point.
"""

from __future__ import annotations

import re
from xml.etree import ElementTree

SVG, LINK = "http://www.w3.org/2000/svg", "http://www.w3.org/1999/xlink"
_REFERENCE = re.compile(r"""(?:url\(|href=")#([\w-]+)""")
LENGTHS = ("d", "x", "y", "width", "height", "points", "transform")


def small_svg(text: str) -> str:
    """Return an SVG that looks the same: styles as classes, two decimals, no unused names, groups or remarks.

    >>> small_svg(f'<svg xmlns="{SVG}"><g id="a"><path d="M 1.2345 2" style="fill: none"/></g></svg>')
    '<svg xmlns="http://www.w3.org/2000/svg"><style>.a{fill:none}</style><path d="M1.23 2" class="a" /></svg>'
    """
    root = ElementTree.fromstring(text)
    used = {name: f"i{_name(index)}" for index, name in enumerate(dict.fromkeys(_REFERENCE.findall(text)))}
    for child in list(root):
        if child.tag == f"{{{SVG}}}metadata":
            root.remove(child)
    classes: dict[str, str] = {}
    _shorten(root, used, classes)
    _unwrap(root)
    sheet = ElementTree.Element(f"{{{SVG}}}style")
    sheet.text = "".join(f".{name}{{{style}}}" for style, name in classes.items())
    root.insert(0, sheet)
    ElementTree.register_namespace("", SVG)
    return ElementTree.tostring(root, encoding="unicode")


def _shorten(element: ElementTree.Element, used: dict[str, str], classes: dict[str, str]) -> None:
    for each in element.iter():
        attributes = each.attrib
        name = used.get(attributes.pop("id", ""))
        if name:
            attributes["id"] = name
        target = attributes.pop(f"{{{LINK}}}href", "")
        if target:
            attributes["href"] = f"#{used[target[1:]]}"
        if "clip-path" in attributes:
            attributes["clip-path"] = _REFERENCE.sub(lambda found: f"url(#{used[found[1]]}", attributes["clip-path"])
        style = re.sub(r"\s*([:;,])\s*", r"\1", attributes.pop("style", ""))
        if style:
            attributes["class"] = classes.setdefault(style, _name(len(classes)))
        if attributes.get("transform", "").startswith("rotate(-0 "):
            del attributes["transform"]
        for name in LENGTHS:
            if name in attributes:
                attributes[name] = _rounded(attributes[name])
        is_words = each.tag.endswith(("}text", "}tspan", "}style"))
        each.text = each.text if is_words and each.text and each.text.strip() else None
        each.tail = None


def _unwrap(element: ElementTree.Element) -> None:
    """Replace groups without attributes by their contents."""
    for child in element:
        _unwrap(child)
    for index in range(len(element) - 1, -1, -1):
        if element[index].tag == f"{{{SVG}}}g" and not element[index].attrib:
            element[index : index + 1] = list(element[index])


def _rounded(numbers: str) -> str:
    r"""Return a list of numbers, or a path, with two decimals.

    >>> _rounded("M 10.0061 -0.001 \nL 0.5 3 \nz")
    'M10.01 0L.5 3z'
    """
    found = re.sub(r"-?\d+\.\d+", lambda number: _short(number.group()), numbers)
    return re.sub(r"\s*([A-Za-z])\s*", r"\1", " ".join(found.split()))


def _short(number: str) -> str:
    text = f"{float(number):.2f}".rstrip("0").rstrip(".")
    return "0" if text in ("-0", "") else text.replace("0.", ".", 1) if text.lstrip("-").startswith("0.") else text


def _name(index: int) -> str:
    """Return the short name of a class: a, b, ... z, a1, b1, ...

    >>> _name(0), _name(27)
    ('a', 'b1')
    """
    return chr(ord("a") + index % 26) + (str(index // 26) if index >= 26 else "")
