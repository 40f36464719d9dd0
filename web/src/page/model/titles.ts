/** The catalogue as the page needs it: titles by item, searched without the network. */

import { mostErrors, typingErrors } from "./typing";

export interface Title {
  readonly item: string;
  /** The title without its year. */
  readonly name: string;
  /** The year in brackets at its end, or nothing. */
  readonly year: string;
  /** What kind of thing it is, or nothing. */
  readonly genre: string;
  /** Where she reads about it, or nothing; the page loads nothing of it. */
  readonly link: string;
  /** What is searched: lower case, without accents. */
  readonly plain: string;
  /** How many training ratings it has; public. */
  readonly ratings: number;
}

const YEAR = /^(.*\S)\s+\((\d{4})\)$/u;
/** An article behind its title, at its end or before brackets: "Matrix, The", "Postino, Il (...)". */
const ARTICLE =
  /^(.+?), (The|A|An|La|Le|L'|Les|Il|Lo|Gli|I|Der|Die|Das|El|Los|Las|Un|Une|Una|De|Het|Den|Det|O|Os)(?= \(|$)/u;
const BRACKETS = /\(([^()]+)\)/gu;

/** More typing errors than any word has. */
const NEVER = 1000;

/** All titles, most rated first: an order that is the same for everyone. */
export class Titles {
  readonly all: readonly Title[];
  readonly #byItem: ReadonlyMap<string, Title>;
  /** All words of all titles; only a search for similar ones needs them. */
  #words: ReadonlySet<string> | undefined;

  constructor(
    items: readonly string[],
    titles: readonly string[],
    ratings: readonly number[],
    genres: readonly string[] = [],
    links: readonly string[] = [],
  ) {
    const made = items.map((item, i) =>
      split(item, titles[i] ?? item, ratings[i] ?? 0, genres[i], links[i]),
    );
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

  /**
   * Titles that hold a word like each one looked for, for who mistyped: the most alike first.
   *
   * Beginnings count, since she may still be typing.
   */
  searchAlike(text: string): readonly Title[] {
    const wanted = folded(text).split(" ").filter(Boolean);
    if (wanted.length === 0) return this.all;
    const likes = wanted.map((word) => this.#like(word));
    const errors = new Map<Title, number>();
    for (const title of this.all) {
      const words = title.plain.split(" ");
      const each = likes.map((like) => Math.min(...words.map((word) => like.get(word) ?? NEVER)));
      const sum = each.reduce((a, b) => a + b, 0);
      if (sum < NEVER) errors.set(title, sum);
    }
    return [...errors].sort(([, a], [, b]) => a - b).map(([title]) => title);
  }

  /** All words of titles that are like a word, with how many typing errors apart they are. */
  #like(word: string): ReadonlyMap<string, number> {
    this.#words ??= new Set(this.all.flatMap(({ plain }) => plain.split(" ")));
    const most = mostErrors(word);
    const like = new Map<string, number>();
    for (const other of this.#words) {
      const errors = other.includes(word) ? 0 : typingErrors(word, other, most);
      if (errors <= most) like.set(other, errors);
    }
    return like;
  }
}

/** What stands behind a title: its year and its genre. */
export function aside({ year, genre }: Title): string {
  return [year, genre].filter(Boolean).join(" · ");
}

function split(item: string, title: string, ratings: number, genre = "", link = ""): Title {
  const [, before = title, year = ""] = YEAR.exec(title) ?? [];
  const name = spoken(before);
  let plain: string | undefined;
  return {
    item,
    name,
    year,
    genre,
    link,
    // Only a search needs it.
    get plain() {
      plain ??= folded(`${name} ${year} ${genre}`);
      return plain;
    },
    ratings,
  };
}

/** A title as people say it, other names in brackets too: "The Matrix", not "Matrix, The". */
function spoken(title: string): string {
  const inner = title.replace(BRACKETS, (_, other: string) => `(${fronted(other)})`);
  return fronted(inner);
}

function fronted(title: string): string {
  return title.replace(ARTICLE, (_, rest: string, article: string) =>
    article.endsWith("'") ? `${article}${rest}` : `${article} ${rest}`,
  );
}

function folded(text: string): string {
  return text
    .normalize("NFD")
    .replace(/\p{M}/gu, "")
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]+/gu, " ")
    .trim();
}
