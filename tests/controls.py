"""Finds the controls of a page, operates them by keyboard, and sees whether anything happens."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from playwright.sync_api import Page

SECONDS = 0.8
"""How long an effect may take."""
WATCH = r"""(() => {
  const READS = /\/(search|study|explain|predict|preview)$/, IGNORED = /^\/v1\/(jobs\?|models$)/, STREAMS = /\/events$/;
  const plain = window.fetch;
  const watch = (window.__watch = { effects: 0, flying: 0, last: 0 });
  const happened = () => { watch.effects += 1; watch.last = performance.now(); };
  window.fetch = async (path, options = {}) => {
    const ignored = IGNORED.test(path);
    if (!ignored) happened();
    if ((options.method ?? "GET") !== "GET" && !READS.test(path))
      return new Response(JSON.stringify({ title: "Refused", detail: "This test changes nothing." }), { status: 503 });
    watch.flying += ignored ? 0 : 1;
    try {
      const response = await plain(path, options);
      if (!STREAMS.test(path)) await response.clone().arrayBuffer();
      return response;
    } finally {
      watch.flying -= ignored ? 0 : 1;
      watch.last = performance.now();
    }
  };
  window.addEventListener("hashchange", happened);
  new MutationObserver((all) => { if (all.some(({ attributeName }) => attributeName !== "data-place")) happened(); })
    .observe(document, { subtree: true, childList: true, attributes: true, characterData: true });
  const CONTROLS = "a[href], button, summary, select, textarea, input:not([type=hidden])";
  const MANY = new Set(["LI", "TR", "DT", "DD", "OPTION"]);
  const own = (one) =>
    one.localName + [...one.classList].map((name) => `.${name}`).join("") + (one.type ? `[${one.type}]` : "");
  const step = (one) => {
    if (MANY.has(one.tagName)) return own(one);
    const alike = [...(one.parentElement?.children ?? [])].filter((other) => own(other) === own(one));
    return alike.length > 1 ? `${own(one)}:${alike.indexOf(one)}` : own(one);
  };
  const kind = (one) => {
    const steps = [];
    for (let at = one; at && at.localName !== "ml-workbench"; at = at.parentElement) steps.unshift(step(at));
    return steps.join(" > ");
  };
  /** The controls that can be operated now, those of an open dialog alone, one of each kind. */
  watch.controls = () => {
    const root = document.querySelector("dialog[open]") ?? document.querySelector("#view"), found = {};
    for (const one of root.querySelectorAll(CONTROLS)) {
      if (one.disabled || one.tabIndex < 0 || one.ariaDisabled === "true" || !one.checkVisibility()) continue;
      const name = kind(one);
      if (!found[name] || found[name].hasAttribute("aria-current")) found[name] = one;
    }
    return found;
  };
  watch.focus = (name) => {
    const one = watch.controls()[name];
    if (!one) return null;
    one.focus();
    const isSelect = one.localName === "select", isLast = isSelect && one.selectedIndex === one.length - 1;
    const isAtMost = one.type === "range" && one.value === one.max;
    return { tag: one.localName, type: one.type ?? "", isLast, isAtMost, isOnly: isSelect && one.length < 2 };
  };
  watch.begin = () => { watch.effects = 0; watch.focused = document.activeElement; };
  watch.sees = () => watch.effects > 0 || document.activeElement !== watch.focused;
  watch.quiet = () => watch.flying === 0 && performance.now() - watch.last > 50;
})()"""


@dataclass
class Watched:
    """A page in which every change is counted and nothing is changed on the server."""

    page: Page
    files: int = 0
    dead: list[str] = field(default_factory=list)
    operated: int = 0

    @classmethod
    def watch(cls, page: Page) -> Watched:
        """The page, whose scripts are watched from its next load on."""
        made = cls(page)
        page.add_init_script(WATCH)
        page.on("download", lambda _: made._took_file())
        page.on("filechooser", lambda _: made._took_file())
        return made

    def _took_file(self) -> None:
        self.files += 1

    def open(self, address: str) -> None:
        """Go to an address of the page, without any dialog, and wait until all is loaded."""
        self.page.evaluate("() => document.querySelectorAll('dialog[open]').forEach((one) => one.close())")
        self.page.evaluate("address => { location.hash = address; window.__watch.last = performance.now(); }", address)
        element = f"ml-{address.partition('?')[0].rpartition('/')[2]}-view"
        self.page.wait_for_selector(f"#view > {element} h1")  # its scripts may still be loading
        self.settle()

    def settle(self) -> None:
        """Wait until nothing is being loaded or drawn."""
        self.page.wait_for_function("() => document.querySelector('#view h1') && window.__watch.quiet()", polling=20)

    def kinds(self) -> list[str]:
        """The kinds of controls that can be operated now."""
        return list(self.page.evaluate("Object.keys(window.__watch.controls())"))

    def operate(self, kind: str) -> bool | None:
        """Whether operating a control by keyboard has an effect; None where there is none of the kind."""
        found = self.page.evaluate("kind => window.__watch.focus(kind)", kind)
        if found is None or found["isOnly"]:
            return None
        if found["type"] not in ("text", "search", "textarea"):
            self.settle()
        self.files = 0
        self.page.evaluate("window.__watch.begin()")
        self._press(found)
        return self.sees()

    def sees(self) -> bool:
        """Whether anything happens within a short time."""
        for _ in range(int(SECONDS / 0.02)):
            if self.files or self.page.evaluate("window.__watch.sees()"):
                return True
            self.page.wait_for_timeout(20)
        return False

    def _press(self, found: dict[str, Any]) -> None:
        keyboard, tag, type_ = self.page.keyboard, found["tag"], found["type"]
        if tag == "select":
            keyboard.press("ArrowUp" if found["isLast"] else "ArrowDown")
        elif type_ == "range":
            keyboard.press("ArrowLeft" if found["isAtMost"] else "ArrowRight")
        elif type_ in ("checkbox", "radio"):
            keyboard.press("Space" if type_ == "checkbox" else "ArrowDown")
        elif type_ == "number":
            keyboard.press("ArrowUp")
            keyboard.press("Enter")
        elif tag in ("a", "button", "summary") or type_ in ("button", "submit", "file"):
            keyboard.press("Enter")
        else:
            keyboard.type("b")
            if tag != "textarea":
                keyboard.press("Enter")

    def operate_all(self, address: str, exceptions: dict[str, str]) -> None:
        """Operate one control of each kind, and of each kind that appears by that; keep those without an effect."""
        self.open(address)
        waiting: list[tuple[str, ...]] = [(kind,) for kind in self.kinds()]
        known = {path[-1] for path in waiting}
        while waiting:
            path = waiting.pop(0)
            if any(part in path[-1] for part in exceptions):
                continue
            self.open(address)
            for before in path[:-1]:
                self.operate(before)
                self.settle()
            result = self.operate(path[-1])
            if result is None:
                continue
            self.operated += 1
            if not result:
                self.dead.append(" then ".join(path))
            if len(path) < 2 and self.page.evaluate(
                "address => location.hash.split('?')[0] === address.split('?')[0]", address
            ):
                self.settle()
                new = [kind for kind in self.kinds() if kind not in known]
                known.update(new)
                waiting += [(*path, kind) for kind in new]
