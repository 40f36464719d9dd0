/** The catalogue as the page needs it: titles by item, searched without the network. */

export interface Title {
  readonly item: string;
  /** The title without its year. */
  readonly name: string;
  /** The year in brackets at its end, or nothing. */
  readonly year: string;
  /** What is searched: lower case, without accents. */
  readonly plain: string;
  /** How many training ratings it has; public. */
  readonly ratings: number;
}

const YEAR = /^(.*\S)\s+\((\d{4})\)$/u;
const ARTICLE = /^(.*), (The|A|An|La|Le|L'|Les|Il|Der|Die|Das|El|Los|Un|Une)$/u;

/** All titles, most rated first: an order that is the same for everyone. */
export class Titles {
  readonly all: readonly Title[];
  readonly #byItem: ReadonlyMap<string, Title>;

  constructor(items: readonly string[], titles: readonly string[], ratings: readonly number[]) {
    const made = items.map((item, i) => split(item, titles[i] ?? item, ratings[i] ?? 0));
    this.#byItem = new Map(made.map((title) => [title.item, title]));
    this.all = made.sort((a, b) => b.ratings - a.ratings || (a.item < b.item ? -1 : 1));
  }

  /** The title of an item; an item that left the catalogue goes by its identifier. */
  of(item: string): Title {
    return this.#byItem.get(item) ?? split(item, item, 0);
  }

  /** Titles that hold every word looked for; those that begin with the text come first. */
  search(text: string): readonly Title[] {
    const words = folded(text).split(" ").filter(Boolean);
    if (words.length === 0) return this.all;
    const matches = this.all.filter(({ plain }) => words.every((word) => plain.includes(word)));
    const start = words.join(" ");
    const first = matches.filter(({ plain }) => plain.startsWith(start));
    return [...first, ...matches.filter(({ plain }) => !plain.startsWith(start))];
  }
}

function split(item: string, title: string, ratings: number): Title {
  const [, before = title, year = ""] = YEAR.exec(title) ?? [];
  const [, rest, article] = ARTICLE.exec(before) ?? [];
  const name = rest && article ? `${article} ${rest}` : before;
  let plain: string | undefined;
  return {
    item,
    name,
    year,
    // Only a search needs it.
    get plain() {
      plain ??= folded(`${name} ${year}`);
      return plain;
    },
    ratings,
  };
}

function folded(text: string): string {
  return text
    .normalize("NFD")
    .replace(/\p{M}/gu, "")
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]+/gu, " ")
    .trim();
}
