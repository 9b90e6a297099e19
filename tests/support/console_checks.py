"""Checks of a page of the console, whatever it shows. Where the variable SEENDB_CONSOLE_PICTURES names a folder, pictures
of the pages go there."""

import os

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
# Ids that are more than text, unless they are shown as text.
HOSTILE = ['<img src=x onerror="window.hacked=1">', "\u202eabc\u2066", "x" * 255, "'; $(touch hacked) `id` \\ \"",
           "'\"--><script>window.hacked=1</script>", "{{7*7}}${7*7}", "javascript:window.hacked=1", "#&?%00/..", "-true-\U0001f600",
           "constructor", "__proto__"]
AXE = os.path.join(ROOT, "build", "axe", "node_modules", "axe-core", "axe.min.js")
PICTURES = os.environ.get("SEENDB_CONSOLE_PICTURES")
ROWS = "return [...document.querySelectorAll(arguments[0] + ' tbody tr')].map(r => [...r.cells].map(c => c.innerText))"


def rows_of(window, caption):
    return window.js(ROWS, '[aria-label="%s"]' % caption)


def expect_fits(case, window, name):
    """Nothing lies beyond the edge of a window of any size, light or dark."""
    for width, dark in ((360, False), (1280, False), (1280, True), (3840, False)):
        window.view(width, 900, dark)
        wide, seen = window.js("return [document.documentElement.scrollWidth, innerWidth]")
        case.assertLessEqual(wide, seen, (name, width))
        if PICTURES:
            window.screenshot("%s/%s-%d%s.png" % (PICTURES, name, width, "-dark" if dark else ""))


def expect_names(case, window):
    """Each control has a name, and is reached by the Tab key in its turn."""
    nameless = window.js(
        "return [...document.querySelectorAll('input, select, textarea, button')].filter(e => "
        "!(e.labels && e.labels.length && e.labels[0].innerText) && !e.textContent).map(e => e.outerHTML)")
    case.assertEqual(nameless, [])
    case.assertEqual(window.js("return document.querySelectorAll('[tabindex]:not([tabindex=\"0\"])"
                               ":not([tabindex=\"-1\"])').length"), 0)
    case.assertEqual(window.js("return [document.documentElement.lang, "
                               "document.querySelectorAll('h1').length]"), ["en", 1])


def expect_axe_finds_nothing(case, window):
    """axe-core, on what the window shows and on what it folds, light and dark; skips the test where it is not there."""
    if not os.path.isfile(AXE):
        case.skipTest("NO AXE (tests/console/axe/fetch)")
    with open(AXE, encoding="utf-8") as file:
        axe = file.read()
    window.js("document.querySelectorAll('details').forEach(d => { d.open = true; })")
    window.devtools("Runtime.evaluate", expression=axe)
    for dark in (False, True):  # where it is dark only colours are others
        window.view(1280, 900, dark)
        found, held = window.later(
            "const [dark, done] = arguments; axe.run(document, dark ? {runOnly: ['color-contrast']} : {}).then("
            "r => done([r.violations.map(v => [v.id, v.nodes.map(n => n.html + n.failureSummary)]), "
            "r.passes.length]))", dark)
        case.assertEqual(found, [], (window.url(), dark))
        case.assertGreater(held, 0 if dark else 15)  # rules that had something to look at
