"""Texts made by `%`, taken apart into the parts of an f-string."""

from __future__ import annotations

import pytest

from dy2static.percent import parts_of
from dy2static.runtime import formatted

CASES = [
    ("plain", ()),
    ("%s and %s", (1.5, "x")),
    ("%d%%", 7.9),
    ("%5d|%-5d|%05d|%+d|% d", (3, 3, 3, 3, 3)),
    ("%.3f|%8.2f|%-8.2f|%08.2f|%+.1e|%g|%G", (2.5,) * 7),
    ("%r|%10s|%-10s|%.2s|%a", ("ab", "cd", "ef", "ghi", "j")),
    ("%x|%X|%#x|%o", (255,) * 4),
    ("%(a)s then %(b)6.2f then %(a)s", {"a": "x", "b": 1.0}),
    ("%i|%u|%ld", (1, 2, 3)),
]


@pytest.mark.parametrize(("template", "values"), CASES)
def test_the_parts_say_what_python_says(template, values):
    text = "".join(p if isinstance(p, str) else formatted(*p) for p in parts_of(template, values, int))
    assert text == template % values


@pytest.mark.parametrize("values", [(), (1, 2), (1, 2, 3, 4)])
def test_a_wrong_number_of_values_fails_as_in_python(values):
    with pytest.raises(TypeError) as expected:
        "%s %s %s" % values  # noqa: UP031
    with pytest.raises(TypeError) as found:
        parts_of("%s %s %s", values, int)
    assert str(found.value) == str(expected.value)
