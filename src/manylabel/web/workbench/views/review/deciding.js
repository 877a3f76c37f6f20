// A view that has one document open and saves decisions about it. Nothing is shown as saved before the server has it on its disk.
import { Problem, corpusPath, get, post } from "../../api.js";
import { View } from "../../view.js";
import { changeInWords, eventInWords, isFulfilled } from "./words.js";

const STANDS = ["imported", "accepted"];
const namesOf = (document, fits) => document.labels.filter(fits).map(({ label }) => label);

/** The labels of a document that are true and not yet confirmed by a user. */
const standing = (document) => namesOf(document, ({ state }) => state === "imported");

/** Whether a suggestion to remove a label waits: nobody has decided about the label. */
const isDoubted = ({ state, suggestion }) => state === "imported" && suggestion?.action === "remove";

/** What a user can decide about a document as a whole; null where it contradicts its labels. */
export const WHOLE = {
  confirm: (document) => (document.labels.some(({ is_true: isTrue }) => isTrue) ? { accept: standing(document), state: "reviewed" } : null),
  takeSuggestions: (document) => {
    const reject = namesOf(document, isDoubted);
    const accept = namesOf(document, (one) => ["imported", "suggested"].includes(one.state) && !isDoubted(one));
    const stays = accept.length || document.labels.some((one) => one.is_true && !isDoubted(one));
    return stays ? { accept, reject, state: "reviewed" } : null;
  },
  none: (document) => ({ reject: namesOf(document, ({ state }) => STANDS.includes(state)), state: "no label applies" }),
  reopen: () => ({ state: "not reviewed" }),
};

export class DecidingView extends View {
  static properties = {
    ...View.properties, document: { state: true }, saving: { state: true }, saved: { state: true }, unsaved: { state: true }, conflict: { state: true }, undone: { state: true },
  };

  constructor() {
    super();
    Object.assign(this, { document: null, saving: false, saved: "", unsaved: null, conflict: null, wanted: null, foreign: 0, mine: new Set(), undone: [], last: Promise.resolve() });
  }

  /** Do things one after the other: what is typed quickly applies to the document that is open then. */
  inOrder(work) {
    this.last = this.last.then(work, work);
    return this.last;
  }

  /** Do something about the document as the user sees it; not where someone else's change came in between. */
  onSeen(work) {
    const { foreign } = this;
    return this.inOrder(() => {
      if (foreign === this.foreign) return work();
      this.tell("ml-problem", new Problem(0, { detail: "Nothing was saved: someone changed the document at the same moment. Look at it again, then decide." }));
      return false;
    });
  }

  fetchDocument(number) {
    return get(corpusPath(this.corpus, "documents", String(number)));
  }

  /** Show a document as the server has it; the view renews its list, too. */
  take(document) {
    this.document = document;
  }

  say(text) {
    this.tell("ml-say", text);
  }

  /** Decide about the open document: `change` has accept, reject, clear and state, or is a function of the document. Returns whether it was saved. */
  async decide(change) {
    if (!this.document) return false;
    if (this.unsaved) {
      this.say("Not done: the decision before is not saved yet. Try again or drop it first.");
      this.querySelector(".notice.bad button").focus();
      return false;
    }
    const wanted = typeof change === "function" ? change(this.document) : change;
    const by = wanted && (await this.named());
    return by ? this.save(this.document, wanted, by) : false;
  }

  async save(document, change, by) {
    this.saving = true;
    const { number, id } = document;
    try {
      const decision = { document: number, revision: document.revision, ...change };
      const { event, revisions } = await post(corpusPath(this.corpus, "decisions"), { by, decisions: [decision] });
      this.mine.add(event);
      await this.confirm(number, id, change, revisions[0]);
      return true;
    } catch (error) {
      if (!(error instanceof Problem)) throw error;
      return await this.refused(error, document, change, by);
    } finally {
      this.saving = false;
    }
  }

  /** The server has it: show the document as it is now, and say so. */
  async confirm(number, id, change, revision = null) {
    Object.assign(this, { unsaved: null, conflict: null, undone: [] });
    this.saved = `${id}: ${changeInWords(change)}`;
    this.say(`Saved. ${this.saved}`);
    this.tell("ml-problem", null);
    const now = await this.attempt(() => this.fetchDocument(number));
    if (now && this.document?.number === number) {
      if (now.revision !== revision) this.foreign += 1;
      this.take(now);
    }
    this.decided();
  }

  /** A decision was saved or taken back. */
  decided() {}

  /** What to do where a decision was not saved: others were faster, the server is gone, or it does not allow it. */
  async refused(error, document, change, by) {
    const { number, id } = document;
    this.saved = "";
    if (error.status === 409) return this.meet(error, document, change, by);
    if (error.status === 0 || error.status >= 500 || error.status === 429) {
      this.unsaved = { number, id, revision: document.revision, change, by, why: error.message };
      this.say(`Not saved: ${changeInWords(change)}. ${error.message}`);
      await this.showNotice();
    } else this.tell("ml-problem", error);
    return false;
  }

  /** Someone changed the document first. Where that was this decision, and only its confirmation was lost, it is saved. */
  async meet(error, { number, id }, change, by) {
    const now = await this.attempt(() => this.fetchDocument(number));
    if (!now) return false;
    const changes = error.conflicts.find(({ document }) => document.number === number)?.changes ?? [];
    if (changes.every((one) => one.by === by) && isFulfilled(now, change)) {
      await this.confirm(number, id, change);
      return true;
    }
    if (this.document?.number === number) this.take(now);
    Object.assign(this, { unsaved: null, conflict: { number, id, change, changes, revision: now.revision } });
    this.say(`Not saved. ${error.message}`);
    await this.showNotice();
    return false;
  }

  /** Bring what was not saved into sight. */
  async showNotice() {
    await this.updateComplete;
    this.querySelector(".notice.bad")?.scrollIntoView({ block: "nearest" });
  }

  /** Send a decision that could not be saved once more. */
  again() {
    const { number, id, revision, change, by } = this.unsaved;
    return this.inOrder(() => this.save({ number, id, revision }, change, by));
  }

  /** Decide the same about the document as it is after the others' changes. */
  insist() {
    const { number, id, revision, change } = this.conflict;
    return this.inOrder(async () => {
      const by = await this.named();
      return by ? this.save({ number, id, revision }, change, by) : false;
    });
  }

  /** Take back an event of the user, by default the latest; the document that it was about is opened. */
  async undo(event = null) {
    const by = await this.named();
    if (!by) return;
    const done = await this.attempt(() => post(corpusPath(this.corpus, "undo"), { by, event }));
    if (!done) return;
    this.mine.add(done.event);
    const { events: [undone] } = await get(corpusPath(this.corpus, "events"), { before: done.undone + 1, limit: 1 });
    this.undone = [...this.undone, { event: done.event, words: eventInWords(undone), number: undone.documents.length === 1 ? undone.documents[0] : undefined }];
    await this.tookBack(`taken back: ${eventInWords(undone)}`, this.undone.at(-1).number);
  }

  /** Do again what was taken back last. */
  async redo() {
    const { event, words, number } = this.undone.at(-1) ?? {}, by = event && (await this.named());
    const done = by && (await this.attempt(() => post(corpusPath(this.corpus, "undo"), { by, event })));
    if (!done) return;
    this.mine.add(done.event);
    this.undone = this.undone.slice(0, -1);
    await this.tookBack(`done again: ${words}`, number);
  }

  async tookBack(words, number = this.document?.number) {
    this.saved = words;
    this.say(words);
    await this.openAgain(number);
    this.decided();
  }

  /** Show the document that an undo was about. */
  async openAgain(number) {
    if (number !== undefined) await this.openDocument(number);
  }

  /** Open a document by its number. */
  openDocument(number) {
    this.wanted = number;
    return this.refresh();
  }

  /** Load the document that is open, or about to be; an answer that comes too late is left. */
  async refresh() {
    const { wanted } = this;
    if (wanted === null) return;
    const found = await this.attempt(() => this.fetchDocument(wanted));
    if (wanted !== this.wanted) return;
    if (found?.number === this.document?.number && found?.revision !== this.document?.revision) this.foreign += 1;
    if (found) this.take(found);
    else this.wanted = this.document?.number ?? null;
  }
}
