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
    } else if (event.key === "Escape" && event.target === box) {
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
