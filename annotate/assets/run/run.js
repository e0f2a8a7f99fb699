/*
 * Run, stop, edit and reset for each experiment of a page.
 *
 * Where the page says `<div class="claim-run" hidden data-experiment="NAME" data-words="{…}">` this
 * builds the buttons; without it nothing is shown. Nothing is asked of any host until one of them is
 * pressed: then `experiments.json` beside this file, and for Run what that names.
 */
"use strict";

(() => {
  const script = document.currentScript;
  const here = new URL(".", script.src);
  const { host, megabytes } = script.dataset;

  const UNPACKED = "/experiments";
  const ADDRESS = /(?<= at )0x[0-9a-fA-F]{6,16}\b/g;

  let manifest = null;
  let running = null; // the experiment that runs: one at a time, an interpreter takes much memory
  let spare = null; // an interpreter for the next run, got ready while the reader looks at this one

  /* What the site offers; asked for once, and again if that failed. */
  function offered() {
    manifest ??= fetch(new URL("experiments.json", here)).then((answer) => {
      if (!answer.ok) throw new Error(`${answer.status} ${answer.statusText}`.trim());
      return answer.json();
    });
    manifest.catch(() => { manifest = null; });
    return manifest;
  }

  /* A worker that has been told to get ready, and has nobody to tell anything yet. */
  function interpreter({ base, wheels, integrity }) {
    const runtime = new URL(base, here).href;
    const worker = new Worker(new URL("worker.js", here));
    const forget = () => { if (spare === worker) spare = null; };
    worker.onmessage = ({ data }) => { if (data.kind === "failed") forget(); };
    worker.onerror = (event) => { event.preventDefault(); forget(); };
    worker.postMessage({
      prepare: {
        base: runtime,
        wheels: wheels.map((wheel) => new URL(wheel, runtime).href),
        integrity,
      },
    });
    return worker;
  }

  function element(name, attributes = {}, ...children) {
    const made = document.createElement(name);
    for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
    made.append(...children);
    return made;
  }

  class Runner {
    constructor(root, number) {
      this.root = root;
      this.name = root.dataset.experiment;
      this.words = JSON.parse(root.dataset.words);
      this.worker = null;
      this.versions = null;
      this.printed = { stdout: "", stderr: "" };

      const id = `claim-run-${number}`;
      this.run = this.button("run", () => this.start());
      this.stop = this.button("stop", () => this.halt(this.say("stopped")));
      this.edit = this.button("edit", () => this.toggle());
      this.reset = this.button("reset", () => this.restore());
      this.edit.setAttribute("aria-expanded", "false");
      this.edit.setAttribute("aria-controls", id);
      this.status = element("p", { class: "claim-run-status", role: "status" });
      this.code = element("textarea", {
        id,
        "aria-label": this.text("code", `${this.name}.py`),
        autocapitalize: "off",
        autocomplete: "off",
        rows: "16",
        spellcheck: "false",
        translate: "no",
        wrap: "off",
      });
      this.output = element("code", {
        tabindex: "0",
        role: "group",
        "aria-label": this.text("output"),
      });
      this.panel = element("pre", { "data-search-exclude": "" }, this.output);
      this.code.hidden = this.panel.hidden = true;
      this.code.addEventListener("input", () => this.refresh());
      this.code.addEventListener("keydown", (event) => {
        if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) {
          event.preventDefault();
          this.start();
        }
      });

      const bar = element("div", { class: "claim-run-bar" }, this.run, this.stop, this.edit);
      bar.append(this.reset, this.status);
      root.setAttribute("role", "group");
      root.setAttribute("aria-label", this.text("group", this.name));
      root.replaceChildren(bar, this.code, this.panel);
      root.hidden = false;
      this.say(host ? "offer_host" : "offer", megabytes, host);
      this.refresh();
    }

    /* Not disabled but marked so: a button that loses the focus loses its reader. */
    button(word, press) {
      const made = element("button", { type: "button" }, this.text(word));
      made.addEventListener("click", () => {
        if (made.getAttribute("aria-disabled") !== "true") press();
      });
      return made;
    }

    text(word, ...values) {
      return values.reduce((text, value) => text.replace("{}", () => value), this.words[word]);
    }

    say(word, ...values) {
      this.status.replaceChildren(this.text(word, ...values));
      this.status.dataset.state = word;
    }

    get changed() {
      return this.offer !== undefined && this.code.value !== this.offer.code;
    }

    refresh() {
      const running = this.worker !== null;
      const clean = !this.changed && this.panel.hidden;
      this.run.setAttribute("aria-disabled", String(running));
      this.stop.setAttribute("aria-disabled", String(!running));
      this.reset.setAttribute("aria-disabled", String(running || clean));
    }

    /* Has the experiment at hand, or says why not. */
    async load() {
      if (this.offer !== undefined) return true;
      if (location.protocol === "file:") {
        this.say("file");
        return false;
      }
      try {
        const all = await offered();
        this.runtime = all.pyodide;
        const offer = all.experiments[this.name];
        if (offer === undefined) throw new Error(`experiments.json: ${this.name}?`);
        this.offer = offer;
        this.code.value = offer.code;
        return true;
      } catch (error) {
        this.sayNotLoaded(location.host, error.message);
        return false;
      }
    }

    sayNotLoaded(from, message) {
      if (navigator.onLine === false) this.say("offline");
      else this.say("not_loaded", from, message);
    }

    async toggle() {
      if (!(await this.load())) return;
      this.code.hidden = !this.code.hidden;
      this.edit.setAttribute("aria-expanded", String(!this.code.hidden));
      if (!this.code.hidden) this.code.focus();
    }

    restore() {
      this.code.value = this.offer.code;
      this.panel.hidden = true;
      this.say(host ? "offer_host" : "offer", megabytes, host);
      this.refresh();
    }

    async start() {
      if (this.worker !== null || this.loading) return;
      this.loading = true;
      const loaded = await this.load();
      this.loading = false;
      if (!loaded) return;
      if (typeof WebAssembly === "undefined" || typeof Worker === "undefined") {
        this.say("unsupported");
        return;
      }
      running?.halt(running.say("stopped"));
      running = this;
      this.versions = null;
      this.printed = { stdout: "", stderr: "" };
      this.output.replaceChildren();
      this.panel.hidden = false;
      this.from = host || location.host;
      this.say("load_python", this.from);
      this.worker = spare ?? interpreter(this.runtime);
      spare = null;
      this.worker.onmessage = ({ data }) => this.hear(data);
      this.worker.onerror = (event) => {
        event.preventDefault();
        this.halt(this.sayNotLoaded(location.host, event.message || "worker.js"));
      };
      this.worker.postMessage({
        run: {
          archive: new URL(this.offer.archive, here).href,
          folder: this.offer.folder,
          script: `${this.name}.py`,
          code: this.code.value,
        },
      });
      this.refresh();
    }

    /* Ends the interpreter, whatever it is doing, and gets one ready for the next run. */
    halt() {
      this.worker?.terminate();
      this.worker = null;
      if (this.versions) spare ??= interpreter(this.runtime);
      if (running === this) running = null;
      this.refresh();
    }

    hear(message) {
      switch (message.kind) {
        case "stage":
          if (message.stage !== "script") this.say(`load_${message.stage}`, this.from);
          break;
        case "running":
          this.versions = [message.python, message.numpy];
          this.say("running", ...this.versions);
          break;
        case "output":
          this.printed[message.stream] += message.text;
          this.output.append(element("span", { class: message.stream }, message.text));
          break;
        case "flood":
          this.halt(this.say("flood"));
          break;
        case "failed":
          if (message.stage === "script") this.halt(this.say("crashed", message.message));
          else this.halt(this.sayNotLoaded(this.from, message.message));
          break;
        case "done":
          this.halt(this.judge(message));
      }
    }

    judge({ status, seconds }) {
      const [python, numpy] = this.versions;
      this.say("ended", python, numpy, seconds.toFixed(1));
      const add = (...nodes) => this.status.append(element("br"), ...nodes);
      if (status !== 0) add(this.text("exit", status));
      const different = ["stdout", "stderr"]
        .map((stream) => this.firstDifference(stream))
        .find((line) => line !== null);
      this.status.dataset.state = different ? "differs" : "same";
      if (!different) {
        add(this.text(this.changed ? "same_changed" : "same"));
        return;
      }
      add(this.text(this.changed ? "differs_changed" : "differs", different.number));
      for (const which of ["recorded", "found"]) {
        const line = different[which];
        const shown = line === undefined ? this.text("no_line") : element("code", {}, line);
        add(`${this.text(which)}: `, shown);
      }
    }

    /* {number, recorded, found} of the first line that is not as recorded, or null. */
    firstDifference(stream) {
      const recorded = this.offer[stream].split("\n");
      const found = this.asRecorded(this.printed[stream]).split("\n");
      const index = [...Array(Math.max(recorded.length, found.length)).keys()].find(
        (line) => recorded[line] !== found[line],
      );
      if (index === undefined) return null;
      // The empty piece behind the last line end is no line.
      const lineOf = (lines) => (index < lines.length - 1 ? lines[index] : lines[index] || undefined);
      return { number: index + 1, recorded: lineOf(recorded), found: lineOf(found) };
    }

    /* With what differs between any two runs replaced, as in recordings. */
    asRecorded(text) {
      const folder = `${UNPACKED}/${this.offer.folder}`;
      return text
        .replaceAll(`${folder}/${this.name}.py`, `<script>/${this.name}.py`)
        .replaceAll(folder, "<tree>")
        .replaceAll(UNPACKED, "<run>")
        .replace(/\/lib\/python[0-9.]+\/site-packages/g, "<site-packages>")
        .replace(/\/lib\/python[0-9]+\.zip/g, "<stdlib>")
        .replace(ADDRESS, "0x…");
    }
  }

  document.querySelectorAll(".claim-run[data-experiment]").forEach((root, number) => {
    new Runner(root, number);
  });
})();
