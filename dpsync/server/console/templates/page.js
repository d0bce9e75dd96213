"use strict";
// Follows the log of requests. Whatever is in it becomes text (textContent) and nothing else.
(() => {
  const EVERY = 1000; // milliseconds between two looks
  const table = document.getElementById("log");
  if (!table) return;
  const byId = (id) => document.getElementById(id);
  const body = table.tBodies[0];
  const most = Number(table.dataset.most);
  let after = Number(table.dataset.after);
  let cleared = Number(table.dataset.cleared);

  function make(name, text, className) {
    const found = document.createElement(name);
    if (text !== undefined) found.textContent = text;
    if (className) found.className = className;
    return found;
  }

  function line(row) {
    const found = make("tr", undefined, row.failed ? "failed" : "");
    const request = make("td");
    const code = make("code", `${row.method} `);
    code.append(make("bdi", row.path));
    request.append(code);
    const caller = make("td");
    caller.append(make("bdi", row.caller));
    found.append(
      make("td", row.number, "number"), make("td", row.status), request, make("td", row.operation), caller,
      make("td", row.ms, "number"), make("td", row.fault),
    );
    return found;
  }

  function filter() {
    const wanted = byId("filter").value.trim().toLowerCase();
    const failed = byId("failed").getAttribute("aria-pressed") === "true";
    let shown = 0;
    for (const row of body.rows) {
      row.hidden = (failed && !row.classList.contains("failed")) || !row.textContent.toLowerCase().includes(wanted);
      if (!row.hidden) shown += 1;
    }
    byId("count").textContent = shown === body.rows.length ? `${shown} shown` : `${shown} of ${body.rows.length} shown`;
    byId("none").hidden = body.rows.length > 0;
    byId("rows").hidden = body.rows.length === 0;
  }

  async function look() {
    const answer = await fetch(`${table.dataset.from}?after=${after}&cleared=${cleared}`);
    const found = await answer.json();
    if (found.cleared !== cleared) body.replaceChildren();
    cleared = found.cleared;
    after = found.last;
    if (!found.rows.length && body.rows.length) return;
    for (const row of found.rows) body.prepend(line(row));
    while (body.rows.length > most) body.lastElementChild.remove();
    filter();
  }

  async function follow() {
    const paused = byId("pause").getAttribute("aria-pressed") === "true";
    try {
      if (!paused && !document.hidden) await look();
    } catch {
      byId("count").textContent = "The local server does not respond.";
    }
    setTimeout(follow, EVERY);
  }

  for (const id of ["failed", "pause"]) {
    byId(id).addEventListener("click", () => {
      byId(id).setAttribute("aria-pressed", String(byId(id).getAttribute("aria-pressed") !== "true"));
      filter();
    });
  }
  byId("filter").addEventListener("input", filter);
  for (const one of document.querySelectorAll(".scripted")) one.hidden = false;
  for (const one of document.querySelectorAll(".unscripted")) one.hidden = true;
  setTimeout(follow, EVERY);
})();
