// Requests to the server. Everything the workbench does goes through here; nothing leaves the server the page came from.

const TOKEN = "manylabel-token";

/** What the server refused, in its own words. */
export class Problem extends Error {
  constructor(status, body) {
    super(body.detail ?? body.title ?? `The server answered ${status}.`);
    this.status = status;
    this.conflicts = body.conflicts ?? [];
  }
}

export function setToken(token) {
  sessionStorage.setItem(TOKEN, token);
}

/** The headers that every request needs. */
function headers(more = {}) {
  const token = sessionStorage.getItem(TOKEN);
  return token ? { ...more, Authorization: `Bearer ${token}` } : more;
}

/** A response of the server; what it refuses, and a server that is gone, is a `Problem`. */
async function ask(path, options) {
  let response;
  try {
    response = await fetch(path, { cache: "no-store", ...options, headers: headers(options.headers) });
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new Problem(0, { detail: "The server cannot be reached. What you see is kept; try again when it runs." });
  }
  if (response.ok) return response;
  let body = {};
  try {
    body = await response.json();
  } catch { /* not JSON: the status tells enough */ }
  throw new Problem(response.status, body);
}

export async function get(path, query = {}, signal = undefined) {
  const given = Object.entries(query).filter(([, value]) => value !== null && value !== undefined && value !== "");
  const search = new URLSearchParams(given).toString();
  return (await ask(search ? `${path}?${search}` : path, { method: "GET", signal })).json();
}

/** An answer of the server as plain text. */
export async function getText(path) {
  return (await ask(path, { method: "GET" })).text();
}

async function send(method, path, body, signal) {
  const response = await ask(path, { method, body: JSON.stringify(body), headers: { "Content-Type": "application/json" }, signal });
  return response.json();
}

export const post = (path, body, signal) => send("POST", path, body, signal);
export const put = (path, body) => send("PUT", path, body);

export async function remove(path) {
  await ask(path, { method: "DELETE" });
}

/** Upload a file under a name; `progress` is called with the share that was sent, and `signal` stops it. */
export function upload(path, file, progress = () => {}, signal = undefined) {
  return new Promise((resolve, reject) => {
    const request = new XMLHttpRequest();
    signal?.addEventListener("abort", () => request.abort());
    request.onabort = () => reject(new DOMException("The upload was stopped.", "AbortError"));
    request.open("PUT", path);
    for (const [name, value] of Object.entries(headers())) request.setRequestHeader(name, value);
    request.upload.onprogress = ({ loaded, total }) => progress(total ? loaded / total : 0);
    request.onerror = () => reject(new Problem(0, { detail: "The upload was interrupted. Nothing was kept. Try again." }));
    request.onload = () => {
      const body = parsed(request.responseText);
      if (request.status < 300) resolve(body);
      else reject(new Problem(request.status, body));
    };
    request.send(file);
  });
}

function parsed(text) {
  try {
    return JSON.parse(text);
  } catch {
    return {};
  }
}

/** Save an answer of the server as a file. */
export async function download(path, name = null) {
  const response = await ask(path, { method: "GET" });
  const given = /filename="?([^";]+)"?/.exec(response.headers.get("Content-Disposition") ?? "");
  save(await response.blob(), name ?? given?.[1] ?? "download");
}

/** Let the browser save data as a file. */
export function save(blob, name) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(blob);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}

/** What the work returns; undefined where what it asks for is gone: somebody deleted it a moment ago. */
export async function unlessGone(work) {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof Problem) || error.status !== 404) throw error;
    return undefined;
  }
}

/** The address of something of a corpus. */
export const corpusPath = (corpus, ...rest) => ["/v1/corpora", encodeURIComponent(corpus), ...rest].join("/");

/** The address of the file of a model. */
export const modelFile = (model) => `/v1/models/${encodeURIComponent(model)}/file`;

const OVER = new Set(["done", "failed", "cancelled", "interrupted"]);

/**
 * Follow a job until it is over; `changed` is called with each state of it. Returns the job as it ended.
 * Its events are read with fetch rather than EventSource, which cannot send the token.
 */
export async function follow(id, changed = () => {}, signal = undefined) {
  for (;;) {
    const job = await get(`/v1/jobs/${id}`, {}, signal);
    changed(job);
    if (OVER.has(job.state)) return job;
    const response = await ask(`/v1/jobs/${id}/events`, { method: "GET", signal });
    const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
    let buffer = "";
    for (let piece = await reader.read(); !piece.done; piece = await reader.read()) {
      buffer += piece.value;
      const events = buffer.split("\n\n");
      buffer = events.pop();
      for (const event of events) {
        const data = /^data: (.*)$/m.exec(event);
        if (data) changed({ ...job, ...JSON.parse(data[1]) });
      }
    }
  }
}

/** Start a job and follow it; what made it fail is a `Problem`. Returns its result. */
export async function runJob(request, changed = () => {}, signal = undefined) {
  const started = await post("/v1/jobs", request);
  const ended = await follow(started.id, changed, signal);
  if (ended.state !== "done") throw new Problem(0, { detail: ended.error ?? `The job was ${ended.state}.` });
  return ended.result;
}
