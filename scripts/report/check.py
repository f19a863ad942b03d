"""Asks the report of all figures what a reader needs of it: `check.py CHROMIUM FOLDER`, started by scripts/test-report.

Everything that is wrong is told, and the exit status is 1 where anything is. Eight screenshots stay in the folder.
"""

import glob
import json
import os
import sys

from browser import Browser

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.join(HERE, "..", "..")
MOST, MOST_LIGHT = 15e6, 4e6
problems = []


def ask(good, words):
    """Notes what is wrong."""
    if not good:
        problems.append(words)
        print(f"  wrong: {words}")


def figures():
    """What is on file of each figure, by its name."""
    found = {}
    for path in sorted(glob.glob(os.path.join(ROOT, "results/figures/*/figure.ron"))):
        folder = os.path.dirname(path)
        verdict = os.path.join(folder, "verdict.json")
        has = lambda *names: any(os.path.exists(os.path.join(folder, name)) for name in names)
        found[os.path.basename(folder)] = {
            "verdicts": json.load(open(verdict, encoding="utf-8")) if os.path.exists(verdict) else None,
            "film": has("film.svg", "film.png"),
            "loop": has("loop.png"),
        }
    return found


def method(backend):
    return backend.rsplit("-", 1)[0]


def script(name):
    with open(os.path.join(HERE, name), encoding="utf-8") as file:
        return file.read()


def quiet(browser, where):
    """No complaint of the page, and no request for anything that is not in it."""
    for event in browser.events:
        name, facts = event.get("method"), event.get("params", {})
        if name == "Runtime.exceptionThrown":
            ask(False, f"{where}: {facts['exceptionDetails'].get('exception', facts['exceptionDetails']).get('description')}")
        if name == "Runtime.consoleAPICalled" and facts["type"] in ("error", "warning"):
            ask(False, f"{where}: console {facts['type']}: {facts['args']}")
        if name == "Log.entryAdded" and facts["entry"]["level"] in ("error", "warning"):
            ask(False, f"{where}: {facts['entry']['text']}")
        if name == "Network.requestWillBeSent":
            url = facts["request"]["url"]
            ask(url.startswith(("data:", "file:")) and (url.startswith("data:") or url.endswith(".html")), f"{where}: asks for {url[:120]}")


def appearance(browser, page, shots):
    """Two widths, two themes, with and without script: eight looks at the page."""
    frame = os.path.join(shots, "frame.html")
    with open(frame, "w", encoding="utf-8") as file:
        file.write(f'<!DOCTYPE html><body style="margin:0"><iframe src="{os.path.relpath(page, shots)}" '
                   'style="width:390px;height:2400px;border:0;display:block"></iframe>')
    measure = script("measure.js")
    for theme in ("light", "dark"):
        browser.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": theme}])
        for scripted in (True, False):
            browser.call("Emulation.setScriptExecutionDisabled", value=not scripted)
            for width in (1280, 390):
                where = f"{width} px, {theme}, script {'on' if scripted else 'off'}"
                print(where)
                wide = width == 1280
                browser.call("Emulation.setDeviceMetricsOverride", width=1280 if wide else 600, height=900 if wide else 2400,
                             deviceScaleFactor=1, mobile=False)
                browser.open("file://" + os.path.abspath(page if wide else frame))
                context = None if wide else browser.frame_context()
                quiet(browser, where)
                found = browser.run(measure, context)
                ask(found["width"] == width, f"{where}: the page is {found['width']} px wide")
                ask(found["scroll"] <= found["width"], f"{where}: {found['scroll']} px wide in {found['width']}: {found['widest']}")
                ask(found["dark"] == (theme == "dark"), f"{where}: the page does not follow the theme")
                for pair in found["faint"]:
                    ask(False, f"{where}: contrast {pair}")
                for name in found["unsaid"]:
                    ask(False, f"{where}: a picture without words: {name}")
                name = f"{width}-{theme}-{'script' if scripted else 'plain'}.png"
                browser.screenshot(os.path.join(shots, name), width, 2400)
    browser.call("Emulation.setScriptExecutionDisabled", value=False)
    os.remove(frame)


def contents(browser, page, filed):
    """As much as there is on file, each once, and every link leads somewhere."""
    browser.open("file://" + os.path.abspath(page))
    found = browser.run(script("contents.js"))
    ask(found["headings"] == sorted(filed), "as many headings as figures")
    ask(found["films"] == sorted(name for name, own in filed.items() if own["film"]), f"films of {found['films']}")
    ask(found["loops"] == sorted(name for name, own in filed.items() if own["loop"]), f"loops of {found['loops']}")
    ask(found["plots"] == sorted(name for name, own in filed.items() if own["verdicts"]), f"plots of {found['plots']}")
    for name, own in filed.items():
        told = [claim["text"] for claim in (own["verdicts"] or {"claims": []})["claims"]]
        ask(found["claims"].get(name, []) == told, f"{name}: the claims are those of its verdicts, each once")
    ask(not found["dead"], f"links that lead nowhere: {found['dead']}")
    ask(not found["twice"], f"ids that are there twice: {found['twice']}")
    ask(not found["jumps"], f"headings that skip a level: {found['jumps']}")
    ask(not found["unscoped"], f"{found['unscoped']} cells of headings without scope")
    ask(found["squares"] == sum(len(claims) for claims in found["claims"].values()), "a square for each claim")


def filtering(browser, page, filed):
    """Each filter alone, and all of them at once, show as many cards as the files say."""
    papers = browser.run("[...document.querySelectorAll('.tile')].map((t) => [t.hash.slice(1), t.dataset.paper])")
    paper_of = dict(papers)
    facts = {}
    regression = script("regressions.js")
    counted = browser.run(regression)
    for name, own in filed.items():
        claims = (own["verdicts"] or {"claims": []})["claims"]
        kept = [claim["verdict"].replace(" ", "-") for i, claim in enumerate(claims) if i not in counted.get(name, [])]
        facts[name] = {
            "paper": {paper_of[name]},
            "method": {method(run["backend"]) for run in (own["verdicts"] or {"runs": []})["runs"]},
            "verdict": set(kept),
        }
    wanted = {"paper": paper_of["avbd-fig08"], "method": "xpbd", "verdict": "deviation"}
    asked = [{kind: value} for kind, value in wanted.items()] + [wanted, {}]
    for choice in asked:
        query = "&".join(f"{kind}={value}" for kind, value in choice.items())
        browser.open("file://" + os.path.abspath(page) + (f"?{query}" if query else ""))
        shown = browser.run("[...document.querySelectorAll('.tile')].filter((t) => t.checkVisibility()).map((t) => t.hash.slice(1))")
        should = [name for name, own in facts.items() if all(value in own[kind] for kind, value in choice.items())]
        ask(sorted(shown) == sorted(should), f"filter {query or 'of nothing'}: {len(shown)} cards, {len(should)} on file")
        said = browser.run("document.querySelector('#filters output').textContent")
        ask(said == f"{len(should)} of {len(filed)} figures", f"filter {query}: says {said}")
        ask(choice == {} or should, f"filter {query} shows nothing, so that the check says nothing")


def keyboard(browser, page):
    """The tab key reaches every control in the order of reading, and keys explore curves."""
    browser.call("Emulation.setDeviceMetricsOverride", width=1280, height=900, deviceScaleFactor=1, mobile=False)
    browser.open("file://" + os.path.abspath(page))
    expected = browser.run(script("stops.js"))

    def press(key, code):
        for kind in ("keyDown", "keyUp"):
            browser.call("Input.dispatchKeyEvent", type=kind, key=key, code=key, windowsVirtualKeyCode=code)

    reached = []
    for _ in range(len(expected) + 2):
        press("Tab", 9)
        stop = browser.run("document.activeElement.dataset.stop ?? null")
        if stop is None:
            break
        reached.append(int(stop))
        if len(reached) in (1, 30):
            ask(browser.run("getComputedStyle(document.activeElement).outlineStyle !== 'none'"), "focus is seen")
    ask(reached == list(range(len(expected))),
        f"tab reaches {len(reached)} of {len(expected)} stops, first missed: "
        + str(next((expected[i] for i in range(len(expected)) if i >= len(reached) or reached[i] != i), "")))
    exploring(browser, press)


def exploring(browser, press):
    """Curves become plots to explore; arrows move, Escape shows all, profiles follow the choice."""
    browser.run("document.querySelector('#avbd-fig08 .explore').click()")
    browser.run("new Promise((done) => setTimeout(done, 400))")
    ask(browser.run("document.querySelectorAll('#avbd-fig08 .u-wrap').length > 0"), "curves can be explored")
    browser.run("document.querySelector('#avbd-fig08 .panel').focus()")
    for _ in range(3):
        press("ArrowRight", 39)
    said = browser.run("document.querySelector('#avbd-fig08 .panel output').textContent")
    ask(said.startswith("At ") and "AVBD 20" in said, f"arrows tell values: {said!r}")
    press("Escape", 27)
    browser.run("document.querySelector('#avbd-fig08 .claim').focus()")
    ask(browser.run("document.querySelectorAll('#avbd-fig08 g.lit').length > 0"), "a claim lights its curves up")
    browser.run("document.querySelector('#avbd-fig08 .explore').click()")
    ask(browser.run("document.querySelector('#avbd-fig08 .wide').checkVisibility()"), "the picture comes back")
    if browser.run("!!document.querySelector('#profile')"):
        browser.run("document.querySelector('.choices input').click()")
        ask(browser.run("document.querySelectorAll('#profile .u-wrap').length === 1"), "a profile of other choices")
    quiet(browser, "exploring")


def main():
    program, shots = sys.argv[1:]
    page, light = (os.path.join(shots, kind, "report.html") for kind in ("first", "light"))
    filed = figures()
    for path, most in ((page, MOST), (light, MOST_LIGHT)):
        size = os.path.getsize(path)
        print(f"{path}: {size / 1e6:.2f} MB")
        ask(size <= most, f"{path} has {size} bytes, more than {most:.0f}")
    browser = Browser(program)
    try:
        appearance(browser, page, shots)
        browser.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": "light"}])
        contents(browser, page, filed)
        filtering(browser, page, filed)
        keyboard(browser, page)
    finally:
        browser.close()
    print(f"report: {len(problems)} wrong" if problems else "report: all well")
    sys.exit(bool(problems))


main()
