/** The page's few drawings; all are decoration and hidden from screen readers. */

import { svg } from "./dom";

function drawn(path: string): SVGSVGElement {
  return svg(
    "svg",
    {
      viewBox: "0 0 24 24",
      fill: "none",
      stroke: "currentColor",
      "stroke-width": 1.8,
      "stroke-linecap": "round",
      "stroke-linejoin": "round",
      "aria-hidden": "true",
    },
    svg("path", { d: path }),
  );
}

const STAR = "M12 3.2l2.7 5.6 6.1.8-4.5 4.3 1.1 6.1L12 17.1 6.6 20l1.1-6.1-4.5-4.3 6.1-.8z";

// Long lists hold hundreds of stars: a copy takes a fraction of making one.
const star = svg("svg", { viewBox: "0 0 24 24", "aria-hidden": "true" }, svg("path", { d: STAR }));

export const icons = {
  star: () => star.cloneNode(true) as SVGSVGElement,
  check: () => drawn("M5 12.5l4.5 4.5L19 7.5"),
  lock: () => drawn("M6 11h12v9H6zM8.5 11V8a3.5 3.5 0 0 1 7 0v3"),
  search: () => drawn("M10.5 17a6.5 6.5 0 1 0 0-13 6.5 6.5 0 0 0 0 13zM20 20l-4.9-4.9"),
  close: () => drawn("M6 6l12 12M18 6L6 18"),
  rate: () => drawn(STAR),
  leaves: () => drawn("M12 15V4M7.5 8.5L12 4l4.5 4.5M5 14v5h14v-5"),
  foryou: () => drawn("M4 6h16M4 12h10M4 18h6M18 13v8M14 17h8"),
  ledger: () => drawn("M6 3h12v18H6zM9.5 8h5M9.5 12h5M9.5 16h3"),
  /** Two ends and what lies between them. */
  brand: () =>
    svg(
      "svg",
      { viewBox: "0 0 42 28", "aria-hidden": "true" },
      svg("path", { class: "rod", d: "M6 14h30", "stroke-width": 2 }),
      svg("circle", { class: "end", cx: 6, cy: 14, r: 5 }),
      svg("circle", { class: "end", cx: 36, cy: 14, r: 5 }),
      svg("circle", { class: "mid", cx: 21, cy: 14, r: 8 }),
    ),
};
