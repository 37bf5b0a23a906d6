// Comforts only: every page works without this file.
(() => {
  "use strict";
  document.documentElement.classList.add("script");
  const box = document.getElementById("q");

  // "/" goes to the query box, Escape leaves it.
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return;
    const typing = event.target instanceof Element && event.target.closest("input, textarea, select");
    if (event.key === "/" && !typing && box) {
      event.preventDefault();
      box.focus();
      box.select();
    } else if (event.key === "Escape" && event.target === box && !event.defaultPrevented) {
      box.blur();
    }
  });

  // The empty home page is for typing; on a phone the keyboard would cover it.
  if (box && box.value === "" && document.querySelector("main.home") && !matchMedia("(pointer: coarse)").matches) {
    box.focus();
  }

  // Empty dates make no parameters.
  for (const form of document.querySelectorAll("form")) {
    form.addEventListener("submit", () => {
      for (const input of form.querySelectorAll("input[type=date]")) input.disabled = input.value === "";
    });
  }
  addEventListener("pageshow", () => {
    for (const input of document.querySelectorAll("input[type=date]")) input.disabled = false;
  });

  if (box && box.dataset.suggest) suggest(box);
  document.addEventListener("click", reprints);
  document.addEventListener("click", copy);

  // The text of a suggestion, with what was typed set apart. Its marks count code points.
  function marked({ text, marks }) {
    const letters = Array.from(text), parts = [];
    let at = 0;
    for (const [from, to] of marks) {
      const typed = document.createElement("b");
      typed.textContent = letters.slice(from, to).join("");
      parts.push(letters.slice(at, from).join(""), typed);
      at = to;
    }
    return [...parts, letters.slice(at).join("")];
  }

  // A citation goes to the clipboard; where the page may not write there, it is selected.
  async function copy(event) {
    const button = event.target instanceof Element && event.target.closest("button[data-copy]");
    const text = button && document.getElementById(button.dataset.copy);
    if (!text) return;
    getSelection().selectAllChildren(text);
    try {
      await navigator.clipboard.writeText(text.textContent);
    } catch {
      if (!document.execCommand("copy")) return;
    }
    const label = button.textContent;
    if (label === button.dataset.done) return;
    button.textContent = button.dataset.done;
    setTimeout(() => { button.textContent = label; }, 2000);
  }

  // Suggestions while typing: a combobox with a list, as the ARIA practices describe it.
  function suggest(box) {
    const list = document.createElement("ul");
    list.id = "suggestions";
    list.className = "suggestions";
    list.hidden = true;
    list.setAttribute("role", "listbox");
    list.setAttribute("aria-label", box.dataset.list);
    box.parentElement.append(list);
    box.setAttribute("role", "combobox");
    box.setAttribute("aria-autocomplete", "list");
    box.setAttribute("aria-controls", list.id);
    box.setAttribute("aria-expanded", "false");
    let typed = box.value, chosen = -1, timer = 0, asked = null, shown = [];

    const close = () => {
      list.hidden = true;
      chosen = -1;
      box.setAttribute("aria-expanded", "false");
      box.removeAttribute("aria-activedescendant");
    };
    const choose = (at) => {
      chosen = at;
      list.childNodes.forEach((item, i) => item.setAttribute("aria-selected", String(i === at)));
      box.value = at < 0 ? typed : shown[at].text;
      if (at < 0) box.removeAttribute("aria-activedescendant");
      else {
        box.setAttribute("aria-activedescendant", list.childNodes[at].id);
        list.childNodes[at].scrollIntoView({ block: "nearest" });
      }
    };
    const take = (at) => {
      const { text, id } = shown[at];
      close();
      if (id) location.assign(box.dataset.doc + encodeURIComponent(id));
      else {
        box.value = text;
        box.form.requestSubmit();
      }
    };
    const show = (suggestions) => {
      shown = suggestions;
      chosen = -1;
      list.replaceChildren(...suggestions.map((suggestion, at) => {
        const item = document.createElement("li");
        item.id = "suggestion-" + at;
        item.setAttribute("role", "option");
        item.setAttribute("aria-selected", "false");
        const text = document.createElement("span");
        text.append(...marked(suggestion));
        const kind = document.createElement("span");
        const term = suggestion.kind === "term";
        kind.textContent = term ? box.dataset.term + " " + suggestion.documents.toLocaleString() : box.dataset.title;
        item.append(text, kind);
        // Not "click": the box would lose the focus first, and the list with it.
        item.addEventListener("mousedown", (event) => {
          event.preventDefault();
          take(at);
        });
        return item;
      }));
      list.hidden = suggestions.length === 0;
      box.setAttribute("aria-expanded", String(!list.hidden));
      box.removeAttribute("aria-activedescendant");
    };
    const ask = async () => {
      asked?.abort();
      asked = new AbortController();
      const text = box.value.trim();
      if (text === "") return close();
      try {
        const answer = await fetch(box.dataset.suggest + "?q=" + encodeURIComponent(text), { signal: asked.signal });
        if (!answer.ok) return close();
        const { suggestions } = await answer.json();
        if (document.activeElement === box && box.value.trim() === text) show(suggestions);
      } catch {
        // Overtaken by the next letter, or the server is away: no suggestions then.
      }
    };

    box.addEventListener("input", (event) => {
      typed = box.value;
      clearTimeout(timer);
      if (!event.isComposing) timer = setTimeout(ask, 120);
    });
    box.addEventListener("compositionend", () => {
      typed = box.value;
      clearTimeout(timer);
      timer = setTimeout(ask, 120);
    });
    box.addEventListener("blur", close);
    box.form.addEventListener("submit", close);
    box.addEventListener("keydown", (event) => {
      if (event.isComposing || event.ctrlKey || event.metaKey || event.altKey) return;
      if (event.key === "ArrowDown" && list.hidden) ask();
      else if (list.hidden) return;
      else if (event.key === "ArrowDown") choose(chosen + 1 < shown.length ? chosen + 1 : -1);
      else if (event.key === "ArrowUp") choose(chosen < 0 ? shown.length - 1 : chosen - 1);
      else if (event.key === "Enter" && chosen >= 0) take(chosen);
      else if (event.key === "Escape") {
        choose(-1);
        close();
      } else return;
      event.preventDefault();
    });
  }

  // Reprints open below their hit; without script, the link leads to a page of them.
  async function reprints(event) {
    const link = event.target instanceof Element && event.target.closest("a.more");
    if (!link || event.button !== 0 || event.ctrlKey || event.metaKey || event.shiftKey || event.altKey) return;
    event.preventDefault();
    const hit = link.closest("li");
    const open = hit.querySelector(".reprints");
    if (open) {
      open.hidden = !open.hidden;
      link.setAttribute("aria-expanded", String(!open.hidden));
      return;
    }
    if (link.hasAttribute("aria-busy")) return;
    link.setAttribute("aria-busy", "true");
    try {
      const answer = await fetch(link.href, { headers: { accept: "text/html" } });
      if (!answer.ok) throw new Error(answer.statusText);
      const page = new DOMParser().parseFromString(await answer.text(), "text/html");
      const list = document.createElement("ul");
      list.className = "reprints";
      for (const other of page.querySelectorAll("ol.hits > li")) {
        if (other.dataset.id === hit.dataset.id) continue;
        const item = document.createElement("li");
        for (const part of [".site", "h2 a", "time"]) {
          const found = other.querySelector(part);
          if (found) item.append(document.adoptNode(found));
        }
        list.append(item);
      }
      hit.querySelector("article").append(list);
      link.setAttribute("aria-expanded", "true");
    } catch {
      location.assign(link.href);
    } finally {
      link.removeAttribute("aria-busy");
    }
  }
  for (const link of document.querySelectorAll("a.more")) {
    link.setAttribute("role", "button");
    link.setAttribute("aria-expanded", "false");
    link.addEventListener("keydown", (event) => {
      if (event.key === " ") {
        event.preventDefault();
        link.click();
      }
    });
  }

  // The operator's page brings itself up to date while somebody looks at it.
  const operator = document.querySelector("main[data-refresh]");
  if (operator) {
    const renew = async () => {
      if (document.hidden || document.activeElement !== document.body) return;
      try {
        const answer = await fetch(location.href, { headers: { accept: "text/html" } });
        if (!answer.ok) return;
        const fresh = new DOMParser().parseFromString(await answer.text(), "text/html").querySelector("main");
        const shown = document.querySelector("main[data-refresh]");
        if (fresh && shown) shown.replaceChildren(...fresh.childNodes);
      } catch {
        // The server is away; the next round asks again.
      }
    };
    setInterval(renew, Number(operator.dataset.refresh) * 1000);
  }
})();
