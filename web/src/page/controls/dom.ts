/** Small typed helpers around the DOM: text goes in as text, never as markup. */

export type Child = Node | string | null | undefined | false;

type Handlers = { [K in keyof HTMLElementEventMap]?: (event: HTMLElementEventMap[K]) => void };

export interface Attributes {
  class?: string;
  on?: Handlers;
  [attribute: string]: string | number | boolean | Handlers | null | undefined;
}

/** Make an element; an attribute that is false, null or undefined is left out. */
export function el<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  attributes: Attributes = {},
  ...children: Child[]
): HTMLElementTagNameMap[K] {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name === "on" && value !== null && typeof value === "object") {
      for (const [event, handler] of Object.entries(value)) {
        made.addEventListener(event, handler as EventListener);
      }
    } else {
      set(made, name, value as string | number | boolean | null | undefined);
    }
  }
  add(made, ...children);
  return made;
}

const SVG = "http://www.w3.org/2000/svg";

/** Make an SVG element. */
export function svg<K extends keyof SVGElementTagNameMap>(
  tag: K,
  attributes: Record<string, string | number> = {},
  ...children: Node[]
): SVGElementTagNameMap[K] {
  const made = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, String(value));
  made.append(...children);
  return made;
}

/** Set or remove an attribute, touching the document only when something changes. */
export function set(
  element: Element,
  name: string,
  value: string | number | boolean | null | undefined,
): void {
  if (value === false || value === null || value === undefined) {
    if (element.hasAttribute(name)) element.removeAttribute(name);
    return;
  }
  const text = value === true ? "" : String(value);
  if (element.getAttribute(name) !== text) element.setAttribute(name, text);
}

/** Set an element's text, touching the document only when it changes. */
export function say(element: Element, text: string): void {
  if (element.textContent !== text) element.textContent = text;
}

/** Append children, leaving out those that are not there. */
export function add(parent: Node, ...children: Child[]): void {
  for (const child of children) {
    if (child)
      parent.appendChild(typeof child === "string" ? document.createTextNode(child) : child);
  }
}

/** Replace all children. */
export function fill(parent: Element, ...children: Child[]): void {
  parent.replaceChildren();
  add(parent, ...children);
}

/** Make the children of a list match keys, reusing the elements that stay. */
export function keyed<T, E extends Element>(
  parent: Element,
  kept: Map<string, E>,
  wanted: readonly T[],
  key: (entry: T) => string,
  make: (entry: T) => E,
  update: (element: E, entry: T) => void,
): void {
  const names = new Set(wanted.map(key));
  for (const [name, element] of kept) {
    if (!names.has(name)) {
      element.remove();
      kept.delete(name);
    }
  }
  let next: ChildNode | null = parent.firstChild;
  for (const entry of wanted) {
    const name = key(entry);
    let element = kept.get(name);
    if (!element) {
      element = make(entry);
      kept.set(name, element);
    }
    update(element, entry);
    if (element === next) next = element.nextSibling;
    else parent.insertBefore(element, next);
  }
}

/** Offer a text or bytes as a file; nothing goes over the network. */
export function saveFile(name: string, content: string | Uint8Array): void {
  const type = typeof content === "string" ? "application/json" : "application/octet-stream";
  const part = typeof content === "string" ? content : content.slice();
  const address = URL.createObjectURL(new Blob([part], { type }));
  const link = el("a", { href: address, download: name });
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(address), 10_000);
}
