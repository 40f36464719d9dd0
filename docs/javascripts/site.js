// A table wider than the page is moved by itself. By keys as well, so it takes the focus.
addEventListener("load", () => {
  for (const box of document.querySelectorAll(".md-typeset__scrollwrap, .md-typeset pre > code")) {
    box.tabIndex = 0;
  }
});
