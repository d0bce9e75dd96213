"use strict";
// Shows the data of this page. Whatever is in it becomes text (textContent) and nothing else.
(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const OPEN = 30; // entries that are open at first
  const SORTS = { create: "Creates", update: "Changes", delete: "Deletes", drift: "Drift", other: "Everything else" };
  const SIGNS = { "+": "create", "~": "update", "-": "delete" };
  const byId = (id) => document.getElementById(id);

  function make(name, text, className) {
    const found = document.createElement(name);
    if (text !== undefined) found.textContent = text;
    if (className) found.className = className;
    return found;
  }

  function sortOf(entry) {
    if (entry.topics.includes("drift")) return "drift";
    return entry.topics.includes("change") ? SIGNS[entry.sign] || "other" : "other";
  }

  // Entries.

  const entries = []; // { entry, sort, words, element }

  function heading(entry) {
    const found = make("span", undefined, "heading");
    found.append(make("span", entry.sign || "", "sign"));
    const said = make("span", undefined, "said");
    if (entry.title) said.append(make("bdi", entry.title, "title"), " ");
    if (entry.code) said.append(make("code", entry.code, "code"), " ");
    if (entry.message) said.append(make("bdi", entry.message, "message"));
    if (entry.address) said.title = entry.address;
    found.append(said);
    if (entry.where) found.append(" ", make("span", entry.where, "where"));
    return [found];
  }

  function lines(text, other) {
    const pre = make("pre");
    const left = new Map();
    for (const line of other.split("\n")) left.set(line, (left.get(line) || 0) + 1);
    for (const line of text.split("\n")) {
      const same = (left.get(line) || 0) > 0;
      if (same) left.set(line, left.get(line) - 1);
      pre.append(make("span", line, same ? "" : "marked"), "\n");
    }
    return pre;
  }

  function side(title, text, other, className) {
    const found = make("div", undefined, className);
    found.append(make("h4", title), lines(text, other));
    return found;
  }

  function fillBody(entry, inside) {
    if (entry.tree.length) {
      const pre = make("pre", undefined, "nodes");
      const names = { "+": "comes", "-": "goes", "~": "differs", ">": "differs" };
      for (const line of entry.tree) pre.append(make("span", line, names[line[0]]), "\n");
      inside.append(pre);
    }
    for (const field of entry.fields) {
      const sides = make("div", undefined, "sides");
      const name = make("h3", field.name);
      if (field.label) name.append(" ", make("span", `(${field.label})`, "label"));
      if (field.before === null) {
        sides.className = "created";
        sides.append(name, lines(field.after, ""));
      } else {
        sides.append(name, side(entry.sides[0], field.before, field.after, "before"));
        sides.append(side(entry.sides[1], field.after, field.before, "after"));
      }
      inside.append(sides);
    }
    if (entry.words.length) {
      const list = make("ul", undefined, "words");
      for (const word of entry.words) {
        const item = make("li");
        if (word.about) item.append(make("strong", word.about), ": ");
        item.append(make(word.command ? "code" : "span", word.text));
        list.append(item);
      }
      inside.append(list);
    }
  }

  function article(block, entry) {
    const found = make("article", undefined, [sortOf(entry), ...entry.topics].join(" "));
    found.id = `e${entries.length}`;
    if (!entry.fields.length && !entry.words.length && !entry.tree.length) {
      const only = make("p");
      only.tabIndex = -1;
      only.append(...heading(entry));
      found.append(only);
      return found;
    }
    const details = make("details");
    const summary = make("summary");
    summary.append(...heading(entry));
    details.append(summary);
    details.addEventListener("toggle", () => {
      if (details.open && details.children.length === 1) {
        const inside = make("div", undefined, "inside");
        fillBody(entry, inside);
        details.append(inside);
      }
    });
    details.open = entries.length < OPEN;
    found.append(details);
    return found;
  }

  const main = byId("main");
  for (const block of data.blocks) {
    const section = make("section", undefined, block.level);
    const title = make("h2", block.title || (data.name === "drift" ? "Differences" : "Changes"));
    title.id = `block-${main.children.length}`;
    section.setAttribute("aria-labelledby", title.id);
    section.append(title);
    for (const entry of block.entries) {
      const element = article(block, entry);
      const told = [entry.address, entry.title, entry.message, entry.code, ...entry.tree, ...entry.words.map((word) => word.text)];
      for (const field of entry.fields) told.push(field.name, field.before || "", field.after || "");
      entries.push({ entry, element, section, sort: sortOf(entry), words: told.join("\n").toLowerCase() });
      section.append(element);
    }
    main.append(section);
  }
  for (const one of data.glances) {
    const item = make("li", undefined, one.number ? one.level : "nothing");
    const words = [make("strong", String(one.number)), " ", make("span", one.text)];
    const first = entries.find(({ entry }) => entry.topics.includes(one.topic));
    if (one.number && first) {
      const link = make("a");
      link.href = `#${first.element.id}`;
      link.append(...words);
      item.append(link);
    } else item.append(...words);
    byId("glances").append(item);
  }
  byId("glances").hidden = !data.glances.length;
  byId("previews").hidden = !data.previews.length;
  data.previews.forEach((one, number) => {
    const link = make("a");
    link.href = one.url;
    link.rel = "noopener noreferrer";
    link.append(make("bdi", one.text));
    byId("previews").append(number ? ", " : "", link);
  });
  for (const line of data.hints) byId("about").append(make("p", line));
  for (const line of data.foot) byId("foot").append(make("p", line));

  // The tree: what is inside of a place is made when it is opened.

  // The last segment of an address may begin with a slash: `redirects//start`.
  function segments(name) {
    const parts = name.split("/");
    const at = parts.findIndex((part, number) => number > 0 && (part === "" || part === "["));
    return at < 0 ? parts : [...parts.slice(0, at), parts.slice(at).join("/")];
  }

  function branch(list, found, depth) {
    const groups = new Map();
    for (const one of found) {
      const name = segments(one.name)[depth];
      if (!groups.has(name)) groups.set(name, []);
      groups.get(name).push(one);
    }
    for (const [name, inside] of groups) {
      const here = inside.filter((one) => segments(one.name).length === depth + 1);
      const below = inside.filter((one) => segments(one.name).length > depth + 1);
      for (const one of here) {
        const item = make("li", undefined, one.sort);
        const link = make("a", name);
        link.href = `#${one.element.id}`;
        item.append(make("span", one.entry.sign, "sign"), link);
        list.append(item);
      }
      if (!below.length) continue;
      const item = make("li");
      const details = make("details");
      details.append(make("summary", `${name} (${below.length})`));
      details.addEventListener("toggle", () => {
        if (details.open && details.children.length === 1) {
          const inner = make("ul");
          branch(inner, below, depth + 1);
          details.append(inner);
        }
      });
      details.open = depth < 2 || found.length < 100;
      item.append(details);
      list.append(item);
    }
  }

  // One line for each thing, though several entries may tell of it: that of its change, where there is one.
  function things(found) {
    const known = new Map();
    for (const one of found) {
      const name = one.entry.address.split("#")[0];
      if (!name || !one.entry.sign) continue;
      const before = known.get(name);
      if (!before || (before.sort === "other" && one.sort !== "other")) known.set(name, one);
    }
    return [...known].map(([name, one]) => ({ ...one, name }));
  }

  // Filters.

  const text = byId("text");
  const pressed = new Set();

  function filter() {
    const wanted = text.value.trim().toLowerCase();
    let shown = 0;
    const left = new Set();
    for (const one of entries) {
      const fits = (!pressed.size || pressed.has(one.sort)) && (!wanted || one.words.includes(wanted));
      one.element.hidden = !fits;
      if (fits) { shown += 1; left.add(one.section); }
    }
    for (const section of main.querySelectorAll("section")) section.hidden = !left.has(section);
    const tree = make("ul");
    tree.id = "tree";
    branch(tree, things(entries.filter((one) => !one.element.hidden)), 0);
    byId("tree").replaceWith(tree);
    const more = data.leftOut ? `; ${data.leftOut} more are not listed` : "";
    byId("count").textContent = `${shown} of ${entries.length} shown${more}`;
  }

  byId("filters").hidden = !entries.length;
  byId("tree").parentElement.hidden = !entries.some((one) => one.entry.address);
  for (const [sort, name] of Object.entries(SORTS)) {
    const number = entries.filter((one) => one.sort === sort).length;
    if (!number || number === entries.length) continue;
    const button = make("button", `${name} (${number})`);
    button.type = "button";
    button.dataset.sort = sort;
    button.setAttribute("aria-pressed", "false");
    button.addEventListener("click", () => {
      if (!pressed.delete(sort)) pressed.add(sort);
      button.setAttribute("aria-pressed", String(pressed.has(sort)));
      filter();
    });
    byId("sorts").append(button);
  }
  text.addEventListener("input", filter);
  byId("filters").addEventListener("submit", (event) => event.preventDefault());

  // Keys.

  function go(step) {
    const shown = entries.filter((one) => !one.element.hidden);
    const now = shown.findIndex((one) => one.element.contains(document.activeElement));
    const next = shown[Math.min(shown.length - 1, Math.max(0, now + step))];
    if (!next) return;
    next.element.querySelector("summary, p").focus();
    next.element.scrollIntoView({ block: "nearest" });
  }

  function everything(open) {
    for (const one of entries) {
      const details = one.element.querySelector("details");
      if (details && !one.element.hidden) details.open = open;
    }
  }

  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key === "Escape") {
      text.value = "";
      pressed.clear();
      for (const button of byId("sorts").children) button.setAttribute("aria-pressed", "false");
      filter();
      main.focus();
    } else if (event.target === text) {
      return;
    } else if (event.key === "/") {
      event.preventDefault();
      text.focus();
    } else if (event.key === "j") go(1);
    else if (event.key === "k") go(-1);
    else if (event.key === "e") everything(!entries.some((one) => one.element.querySelector("details[open]")));
  });
  byId("tree").parentElement.addEventListener("click", (event) => {
    const link = event.target.closest("a");
    const details = link && document.querySelector(`${link.getAttribute("href")} > details`);
    if (details) details.open = true;
  });
  addEventListener("beforeprint", () => everything(true));
  filter();
})();
