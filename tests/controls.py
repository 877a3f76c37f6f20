"""Finds the controls of a page, operates them by keyboard, and sees whether anything happens."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from playwright.sync_api import Page

MILLISECONDS = 800
"""How long an effect may take."""
LONGEST = 60_000
"""Milliseconds after which a page that is not quiet is a failure."""
WATCH = r"""(() => {
  const READS = /\/(search|study|explain|predict|preview)$/, IGNORED = /^\/v1\/(jobs\?|models$)/, STREAMS = /\/events$/;
  const plain = window.fetch;
  const watch = (window.__watch = { effects: 0, flying: 0, last: 0, refused: false });
  const happened = () => { watch.effects += 1; watch.last = performance.now(); };
  window.fetch = async (path, options = {}) => {
    const ignored = IGNORED.test(path);
    if (!ignored) happened();
    if ((options.method ?? "GET") !== "GET" && !READS.test(path)) {
      watch.refused = true;
      return new Response(JSON.stringify({ title: "Refused", detail: "This test changes nothing." }), { status: 503 });
    }
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
  /* what repeats itself: one of each is operated */
  const MANY = "li, tr, dt, dd, option, thead th, .figures > div, .methods > label, .review-label";
  const own = (one) =>
    one.localName + [...one.classList].map((name) => `.${name}`).join("") + (one.type ? `[${one.type}]` : "");
  const step = (one) => {
    if (one.matches(MANY)) return own(one);
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
  const frame = () => new Promise((resolve) => { requestAnimationFrame(resolve); });
  const until = async (holds, longest) => {
    for (const end = performance.now() + longest; performance.now() < end;) {
      if (holds()) return true;
      await new Promise((resolve) => { setTimeout(resolve, 5); });
    }
    return holds();
  };
  /** Go to an address without any dialog or open details, and wait until its view is there and quiet. Where something
   * was refused, the view keeps that in mind, and a new one takes its place. */
  watch.open = async (address, element, longest) => {
    document.querySelectorAll("dialog[open]").forEach((one) => one.close());
    document.querySelectorAll("#view details[open]").forEach((one) => { one.open = false; });
    if (watch.refused) document.querySelector("ml-workbench").view = null;
    watch.refused = false;
    location.hash = address;
    window.dispatchEvent(new HashChangeEvent("hashchange"));
    watch.last = performance.now();
    return until(() => document.querySelector(`#view > ${element} h1`) && watch.quiet(), longest);
  };
  watch.settle = (longest) => until(() => document.querySelector("#view h1") && watch.quiet(), longest);
  /** Give a control the focus; null where there is none. What the focus itself changes is no effect of the control. */
  watch.focus = async (name, longest) => {
    await until(() => name in watch.controls(), 200); // what was operated before may still be bringing it
    const one = watch.controls()[name];
    if (!one) return null;
    one.focus();
    await frame();
    await watch.settle(longest);
    watch.begin();
    const isSelect = one.localName === "select", isLast = isSelect && one.selectedIndex === one.length - 1;
    const isAtMost = one.type === "range" && one.value === one.max;
    return { tag: one.localName, type: one.type ?? "", isLast, isAtMost, isOnly: isSelect && one.length < 2 };
  };
  watch.begin = () => { watch.effects = 0; watch.focused = document.activeElement; };
  watch.sees = (longest) => until(() => watch.effects > 0 || document.activeElement !== watch.focused, longest);
  watch.quiet = () => watch.flying === 0 && performance.now() - watch.last > 30;
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
        element = f"ml-{address.partition('?')[0].rpartition('/')[2]}-view"
        assert self.page.evaluate("given => window.__watch.open(...given)", [address, element, LONGEST])

    def settle(self) -> None:
        """Wait until nothing is being loaded or drawn."""
        assert self.page.evaluate("longest => window.__watch.settle(longest)", LONGEST)

    def kinds(self) -> list[str]:
        """The kinds of controls that can be operated now."""
        return list(self.page.evaluate("Object.keys(window.__watch.controls())"))

    def operate(self, kind: str) -> bool | None:
        """Whether operating a control by keyboard has an effect; None where there is none of the kind."""
        self.files = 0
        found = self.page.evaluate("given => window.__watch.focus(...given)", [kind, LONGEST])
        if found is None or found["isOnly"]:
            return None
        self._press(found)
        return self.sees()

    def sees(self) -> bool:
        """Whether anything happens within a short time."""
        return bool(self.page.evaluate("longest => window.__watch.sees(longest)", MILLISECONDS)) or self.files > 0

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
        address = self.page.evaluate("location.hash")  # with what the view added, such as the document that it opened
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
