"""Pages in a real browser: silent, alone, usable by keyboard, readable for everybody.

Run by ``python -m pytest browser`` where Chromium is installed; ``.ci/run`` does so. Pictures are
written to the folder that KERNLENS_PICTURES names.
"""

from __future__ import annotations

import os
from importlib.metadata import distribution
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

from browser.chromium import browser
from kernlens import BrownianKernelRidge, RKHSWeightingClassifier, RKHSWeightingRegressor, report
from pages import (
    HOSTILE,
    LIGHT,
    automatic_classifier,
    automatic_regressor,
    classes,
    hostile,
    mixed,
    numbers,
)

#: Rules of axe-core that are no opinions: WCAG 2.2 A and AA, and its best practices.
SERIOUS = ("serious", "critical")
LOOKS = [(1280, "light"), (1280, "dark"), (375, "light"), (375, "dark")]


def _mixed(path: Path) -> None:
    X, y = mixed(240)
    model = automatic_regressor(X[:160], y[:160])
    said = {"command": "kernlens fit rents.csv --target rent", "data_file": "rents.csv", "seed": 0}
    report(model, X[:160], y[:160], path, X_test=X[160:], y_test=y[160:], context=said)


def _classes(path: Path) -> None:
    X, rent = mixed(240)
    y = classes(rent)
    model = automatic_classifier(X[:160], y[:160])
    report(model, X[:160], y[:160], path, X_test=X[160:], y_test=y[160:])


def _numbers(path: Path) -> None:
    X, y = numbers(200)
    model = RKHSWeightingRegressor(**LIGHT).fit(X[:150], y[:150])
    report(model, X[:150], y[:150], path, X_test=X[150:], y_test=y[150:], stability=5)


def _noise(path: Path) -> None:
    rng = np.random.default_rng(1)
    X, y = rng.standard_normal((160, 3)), rng.standard_normal(160)
    model = BrownianKernelRidge(random_state=0).fit(X[:80], y[:80])
    report(model, X[:80], y[:80], path, X_test=X[80:], y_test=y[80:])


def _hostile(path: Path) -> None:
    X, y = hostile()
    said = {"command": HOSTILE[0], "data_file": HOSTILE[1], "warnings": list(HOSTILE)}
    report(automatic_classifier(X, y), X, y, path, context=said)


def _wide(path: Path) -> None:
    rng = np.random.default_rng(0)
    X = rng.standard_normal((120, 60))
    names = [f"a_rather_long_name_of_a_column_without_any_space_in_it_{k}" for k in range(60)]
    y = np.array([f"class {k} with a long name" for k in np.arange(120) % 30])
    model = RKHSWeightingClassifier(**LIGHT).fit(X, y)
    report(model, X, y, path, feature_names=names)


MAKERS = {
    "mixed": _mixed,
    "classes": _classes,
    "numbers": _numbers,
    "noise": _noise,
    "hostile": _hostile,
    "wide": _wide,
}
every_page = pytest.mark.parametrize("name", MAKERS)


@pytest.fixture(scope="module")
def tab():
    with browser() as found:
        yield found


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    """Writes a page once, under a name that is hostile itself."""
    folder, known = tmp_path_factory.mktemp("pages"), {}

    def write(name):
        if name not in known:
            known[name] = folder / f"{name} <b>'&#.html"
            MAKERS[name](known[name])
        return known[name]

    return write


@pytest.fixture
def page(tab, written, name):
    tab.look(1280)
    tab.open(written(name))
    return tab


@pytest.fixture(scope="module")
def axe():
    """The script of axe-core, as a package of the tests brings it along."""
    files = distribution("axe-playwright-python").files or []
    place = next(file for file in files if file.name == "axe.min.js")
    return Path(place.locate()).read_text(encoding="utf-8")


@every_page
def test_it_opens_silently_and_asks_for_nothing(page, written, name):
    assert page.messages == []
    asked = [address for address in page.requests if not address.startswith("data:")]
    assert asked == [written(name).resolve().as_uri()]
    assert page.run("window.hacked") is None
    assert page.run("document.querySelectorAll('main section').length") > 3


@every_page
@pytest.mark.parametrize(("width", "scheme"), LOOKS)
def test_it_fits_the_screen_and_is_drawn(page, name, width, scheme):
    page.look(width, scheme)
    page.run("document.querySelectorAll('details').forEach((one) => { one.open = true; })")
    wide = "document.documentElement.scrollWidth > document.documentElement.clientWidth"
    assert page.run(wide) is False
    if width < 600 and name in ("mixed", "classes", "noise"):
        # Names of usual length leave a place for every number.
        inner = "[...document.querySelectorAll('.scroll')].filter("
        inner += "(one) => one.scrollWidth > one.clientWidth + 1).map((one) => one.ariaLabel)"
        assert page.run(inner) == []
    dark = "getComputedStyle(document.body).backgroundColor"
    assert (sum(map(int, page.run(dark)[4:-1].split(","))) < 200) == (scheme == "dark")
    pictures = os.environ.get("KERNLENS_PICTURES")
    if pictures:
        page.picture(Path(pictures) / f"{name}-{width}-{scheme}.png")


@every_page
@pytest.mark.parametrize(("width", "scheme"), [(1280, "light"), (375, "dark")])
def test_axe_finds_nothing_serious(page, axe, name, width, scheme):
    page.look(width, scheme)
    page.run("document.querySelectorAll('details').forEach((one) => { one.open = true; })")
    page.run(axe + "; 0")
    found = page.run(
        "axe.run(document, {resultTypes: ['violations']}).then((found) => found.violations.map("
        "(one) => [one.impact, one.id, one.nodes.slice(0, 3).map((node) => node.html)]))"
    )
    assert [one for one in found if one[0] in SERIOUS] == []


@pytest.mark.parametrize("name", ["mixed", "classes", "hostile"])
def test_every_slider_moves_the_prediction_to_what_is_embedded(page, name):
    data = page.run("JSON.parse(document.getElementById('page-data').textContent)")
    assert data["sliders"]
    for row in range(len(data["rows"])):
        _choose(page, row)
        assert _now(page) == data["rows"][row]
        for number, slider in enumerate(data["sliders"]):
            for value in (0, len(slider["values"]) - 1):
                page.run(
                    f"(() => {{ const one = document.getElementById('slider-{number}');"
                    f"one.value = {value}; one.dispatchEvent(new Event('input')); }})()"
                )
                assert _now(page) == slider["texts"][row][value]
                text = page.run(f"document.getElementById('slider-text-{number}').textContent")
                assert text == slider["values"][value]
    page.run("document.getElementById('what-if-reset').click()")
    assert _now(page) == data["rows"][-1]
    assert page.messages == []
    assert page.run("window.hacked") is None


def _choose(page, row):
    page.run(
        "(() => { const one = document.getElementById('row-choice');"
        f"one.value = '{row}'; one.dispatchEvent(new Event('change')); }})()"
    )


def _now(page):
    return page.run(
        "[...document.querySelectorAll('#what-if-result [data-now]')].map((one) => one.textContent)"
    )


@pytest.mark.parametrize("name", ["numbers", "wide"])
def test_a_surface_turns_by_sliders_and_by_hand(page, name):
    data = page.run("JSON.parse(document.getElementById('page-data').textContent)")
    assert data["surfaces"]
    for number, surface in enumerate(data["surfaces"]):
        assert page.run(f"document.getElementById('turn-{number}').hidden") is False
        tiles = f"document.querySelectorAll('#turn-{number}-drawing .level')"
        n_tiles = len(surface["shades"]) * len(surface["shades"][0])
        assert page.run(f"{tiles}.length") == n_tiles
        shades = sorted(f"level level-{shade}" for row in surface["shades"] for shade in row)
        classes = f"[...{tiles}].map((one) => one.getAttribute('class')).sort()"
        outline = f"[...{tiles}].map((one) => one.getAttribute('d')).join()"
        seen = {page.run(outline)}
        for slider, value in (("around", 90), ("around", -180), ("tilt", 0), ("tilt", 80)):
            page.run(
                f"(() => {{ const one = document.getElementById('turn-{number}-{slider}');"
                f"one.value = {value}; one.dispatchEvent(new Event('input')); }})()"
            )
            assert page.run(classes) == shades
            seen.add(page.run(outline))
        assert len(seen) == 5
        assert "NaN" not in "".join(seen)
    box = page.run(
        "(() => { const one = document.getElementById('turn-0-drawing'); one.scrollIntoView();"
        "const box = one.getBoundingClientRect(); return [box.x, box.y]; })()"
    )
    for kind, far in (("mousePressed", 0), ("mouseMoved", 40), ("mouseReleased", 40)):
        page.call(
            "Input.dispatchMouseEvent",
            type=kind,
            x=box[0] + 60 + far,
            y=box[1] + 60,
            button="left",
            buttons=1,
            clickCount=1,
        )
    assert page.run("document.getElementById('turn-0-around').value") == "-160"
    assert page.messages == []


@pytest.mark.parametrize("name", ["mixed"])
def test_the_keyboard_reaches_every_control(page, name):
    reached = set()
    for _ in range(120):
        page.press("Tab", 9)
        focused = page.run(
            "(() => { const one = document.activeElement;"
            "return one.id || one.getAttribute('href') || one.download || one.tagName; })()"
        )
        if focused == "BODY":
            break
        reached.add(focused)
        outline = page.run("getComputedStyle(document.activeElement).outlineStyle")
        assert outline != "none", focused
    controls = page.run(
        "[...document.querySelectorAll('select, button, input, nav a')].map("
        "(one) => one.id || one.getAttribute('href'))"
    )
    assert set(controls) <= reached
    page.run("document.getElementById('slider-0').focus()")
    before = _now(page)
    page.press("End", 35)
    assert page.run("document.getElementById('slider-0').value !== '0'")
    assert before is not None


@pytest.mark.parametrize("name", ["mixed"])
def test_links_lead_somewhere_and_tables_can_be_taken_away(page, name):
    dead = page.run(
        "[...document.querySelectorAll('a[href^=\"#\"]')].filter("
        "(one) => !document.getElementById(one.hash.slice(1))).length"
    )
    assert dead == 0
    texts = page.run(
        "[...document.querySelectorAll('a[download]')].map("
        "(one) => decodeURIComponent(one.href.slice(one.href.indexOf(',') + 1)))"
    )
    assert len(texts) >= 5
    assert all("\r\n" in text for text in texts)


@pytest.mark.parametrize("name", ["mixed", "classes"])
def test_headings_are_in_order(page, name):
    levels = page.run(
        "[...document.querySelectorAll('h1, h2, h3')].map((one) => Number(one.tagName[1]))"
    )
    assert levels[0] == 1
    assert levels.count(1) == 1
    assert all(after <= before + 1 for before, after in pairwise(levels))


@pytest.mark.parametrize("name", ["mixed"])
def test_it_prints(page, name):
    page.look(1280, "dark", "print")
    assert page.run("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    assert page.run("getComputedStyle(document.querySelector('nav')).display") == "none"
    assert page.call("Page.printToPDF")["data"].startswith("JVBERi")
