/*
 * The replay: steps through what was recorded, over the quoted source.
 *
 * The page holds all of it (annotate/claims/pictures/replay.py): the sources, hidden, and the steps
 * as JSON, told in annotate/claims/pictures/steps.py. Nothing is fetched. Keys work wherever the
 * focus is inside of the player; the address names the step, as #step=17, or #2-step=17 for the
 * second player of a page.
 */
(() => {
  "use strict";

  const element = (name, properties = {}, children = []) => {
    const made = Object.assign(document.createElement(name), properties);
    made.append(...children);
    return made;
  };

  /* A moment: the call stack as a linked list of frames that are never changed, and the number of
     the last state and the last graph that were noted. */
  const moments = (data, bodyLine) => {
    const script = {source: 0, line: bodyLine, name: data.words.script, times: 1, up: null, start: 0};
    const found = [];
    let frame = script;
    let state = -1;
    let graph = -1;
    let depth = 0;
    const add = (mark) => found.push({frame, state, graph, depth, mark});
    for (const step of data.steps) {
      if (Array.isArray(step)) {
        const [source, line, name, times, bodyLine] = step;
        if (depth === 0 && bodyLine) {
          frame = {...frame, line: bodyLine};
          add();
        }
        depth += 1;
        frame = {source, line, name, times, up: frame, start: found.length};
        add();
      } else if (step > 0) {
        frame = {...frame, line: step};
        add();
      } else if (step === 0) {
        frame = frame.up;
        depth -= 1;
      } else {
        const mark = -step - 1;
        if (data.marks[mark][1]) state = mark;
        else graph = mark;
        add(mark);
      }
    }
    if (!found.length) add();
    return found;
  };

  class Player {
    constructor(root, number) {
      const data = JSON.parse(root.querySelector('script[type="application/json"]').textContent);
      this.root = root;
      this.words = data.words;
      this.marks = data.marks;
      this.name = number ? `${number + 1}-step` : "step";
      this.moments = moments(data, Number(root.parentElement.dataset.line));
      this.sources = [...root.querySelectorAll("[data-source]")];
      this.graphs = new Map(
        [...root.querySelectorAll("[data-mark]")].map((each) => [Number(each.dataset.mark), each]),
      );
      this.at = 0;
      this.markWhatRan();
      this.build();
      this.show(0);
    }

    get last() {
      return this.moments.length - 1;
    }

    lineOf(frame) {
      return this.sources[frame.source].querySelector(`[data-line="${frame.line}"]`);
    }

    markWhatRan() {
      for (const moment of this.moments) this.lineOf(moment.frame)?.classList.add("ran");
    }

    build() {
      const {words} = this;
      const button = (sign, label, go) => {
        const made = element("button", {type: "button", textContent: sign, title: label});
        made.setAttribute("aria-label", label);
        made.addEventListener("click", go);
        return made;
      };
      this.buttons = {
        first: button("⇤", words.first, () => this.go(0)),
        back: button("←", words.back, () => this.go(this.at - 1)),
        forward: button("→", words.forward, () => this.go(this.at + 1)),
        over: button("↓", words.over, () => this.go(this.over())),
        last: button("⇥", words.last, () => this.go(this.last)),
      };
      this.slider = element("input", {type: "range", min: 1, max: this.last + 1, value: 1});
      this.slider.setAttribute("aria-label", words.position);
      this.slider.addEventListener("input", () => this.go(Number(this.slider.value) - 1));
      this.count = element("output");
      this.menu = element("select", {}, [
        element("option", {value: 0, textContent: words.start}),
        ...this.moments.flatMap((moment, step) =>
          moment.mark === undefined
            ? []
            : [element("option", {value: step, textContent: this.marks[moment.mark][0]})],
        ),
      ]);
      this.menu.setAttribute("aria-label", words.jump);
      this.menu.addEventListener("change", () => this.go(Number(this.menu.value)));
      const {first, back, forward, over, last} = this.buttons;
      const controls = element("div", {className: "replay-controls"}, [
        first, back, forward, over, last, this.slider, this.count,
      ]);
      if (this.menu.options.length > 1) controls.append(this.menu);
      this.title = element("p", {className: "replay-title"});
      const source = element("section", {className: "replay-source"}, [
        this.title,
        this.root.querySelector(".replay-sources"),
      ]);
      source.setAttribute("aria-label", words.source);
      this.stack = element("ol", {className: "replay-stack"});
      this.values = element("dl", {className: "replay-values"});
      const side = element("section", {className: "replay-side", tabIndex: 0}, [
        element("p", {className: "replay-title", textContent: words.stack}),
        this.stack,
      ]);
      side.setAttribute("aria-label", `${words.stack}, ${words.state}`);
      if (this.marks.length) {
        this.moment = element("p", {className: "replay-title"});
        side.append(this.moment, this.values);
      }
      const graphs = this.root.querySelector(".replay-graphs");
      graphs.tabIndex = 0;
      for (const each of this.sources) {
        const code = each.querySelector("code");
        code.tabIndex = 0;
        code.setAttribute("role", "group");
        code.setAttribute("aria-label", each.dataset.title);
      }
      this.heard = element("p", {className: "replay-heard"});
      this.heard.setAttribute("aria-live", "polite");
      this.root.append(
        controls,
        element("div", {className: "replay-panes"}, [source, side]),
        graphs,
        element("p", {className: "replay-keys", textContent: words.keys}),
        this.heard,
      );
      this.root.addEventListener("keydown", (event) => this.press(event));
      this.root.hidden = false;
      this.root.parentElement.querySelector(".replay-still").hidden = true;
    }

    press(event) {
      if (event.altKey || event.ctrlKey || event.metaKey || event.target === this.menu) return;
      const steps = {
        ArrowLeft: () => this.at - 1,
        ArrowRight: () => this.at + 1,
        ArrowDown: () => this.over(),
        ArrowUp: () => this.under(),
        PageUp: () => this.at - 10,
        PageDown: () => this.at + 10,
        Home: () => 0,
        End: () => this.last,
      };
      if (!(event.key in steps)) return;
      event.preventDefault();
      this.go(steps[event.key]());
    }

    /* The next step that is not in a call made from here. */
    over() {
      const {depth} = this.moments[this.at];
      const next = this.moments.findIndex((each, step) => step > this.at && each.depth <= depth);
      return next < 0 ? this.last : next;
    }

    /* The last step before that is not in a call made from here. */
    under() {
      const {depth} = this.moments[this.at];
      let step = this.at - 1;
      while (step > 0 && this.moments[step].depth > depth) step -= 1;
      return step;
    }

    /* Go to a step because the reader asked for it: the address follows, once the reader rests,
       since browsers refuse many changes in a row. */
    go(step) {
      this.show(step);
      clearTimeout(this.rest);
      this.rest = setTimeout(() => {
        const address = new URL(location.href);
        address.hash = `${this.name}=${this.at + 1}`;
        history.replaceState(history.state, "", address);
      }, 150);
    }

    show(step) {
      this.at = Math.max(0, Math.min(this.last, step));
      const moment = this.moments[this.at];
      const {frame} = moment;
      this.slider.value = this.at + 1;
      this.count.textContent = `${this.at + 1} / ${this.last + 1}`;
      const {first, back, forward, over, last} = this.buttons;
      // Not disabled: that would take the focus away, and the keys with it.
      for (const each of [first, back]) each.setAttribute("aria-disabled", this.at === 0);
      for (const each of [forward, over, last])
        each.setAttribute("aria-disabled", this.at === this.last);
      this.showSource(frame);
      this.showStack(frame);
      this.showState(moment);
      for (const [mark, graph] of this.graphs) graph.hidden = mark !== moment.graph;
      const options = [...this.menu.options].filter((each) => Number(each.value) <= this.at);
      this.menu.value = options.at(-1).value;
      this.heard.textContent =
        `${this.words.position} ${this.at + 1}: ${frame.name}, ${this.lineOf(frame)?.textContent ?? ""}`;
    }

    showSource(frame) {
      const source = this.sources[frame.source];
      for (const each of this.sources) each.hidden = each !== source;
      this.title.textContent = `${source.dataset.title} · ${frame.line}`;
      this.lit?.removeAttribute("aria-current");
      this.lit = this.lineOf(frame);
      if (!this.lit) return;
      this.lit.setAttribute("aria-current", "step");
      // Not scrollIntoView, which would move the page as well.
      const code = source.querySelector("code");
      const top = this.lit.offsetTop - code.offsetTop;
      const seen = top >= code.scrollTop && top + this.lit.offsetHeight * 2 <= code.scrollTop + code.clientHeight;
      if (!seen) code.scrollTop = top - code.clientHeight / 3;
    }

    showStack(frame) {
      const items = [];
      for (let each = frame; each; each = each.up) {
        const {start} = each;
        const times = each.times > 1 && !each.name.endsWith(`×${each.times}`) ? ` ×${each.times}` : "";
        const button = element("button", {type: "button", textContent: each.name + times});
        if (each === frame) button.setAttribute("aria-current", "true");
        button.addEventListener("click", () => this.go(start));
        items.push(element("li", {}, [button]));
      }
      // A reader may be on one of the buttons: the focus stays in the player.
      const focused = this.stack.contains(document.activeElement);
      this.stack.replaceChildren(...items);
      if (focused) items[0].firstChild.focus();
    }

    showState(moment) {
      if (!this.moment) return;
      const [title, values] = this.marks[moment.state] ?? [];
      this.moment.textContent = title ? `${this.words.state}: ${title}` : this.words["no state"];
      const before = new Map();
      for (let mark = 0; mark < moment.state; mark += 1)
        for (const [name, value] of this.marks[mark][1] ?? []) before.set(name, value);
      this.values.replaceChildren(
        ...(values ?? []).flatMap(([name, value]) => {
          const changed = before.get(name) !== value;
          return [
            element("dt", {textContent: name}),
            element("dd", {className: changed ? "changed" : ""}, [
              element("code", {textContent: value}),
            ]),
          ];
        }),
      );
    }
  }

  const players = [...document.querySelectorAll(".replay-player")].map(
    (root, number) => new Player(root, number),
  );

  const follow = () => {
    const match = /^#(?:(\d+)-)?step=(\d+)$/.exec(location.hash);
    const player = match && players[Number(match[1] ?? 1) - 1];
    if (!player) return;
    player.show(Number(match[2]) - 1);
    player.root.closest("figure").scrollIntoView({block: "start"});
  };
  addEventListener("hashchange", follow);
  follow();
})();
