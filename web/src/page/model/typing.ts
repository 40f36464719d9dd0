/** How many typing errors apart two words are: for a search that forgives them. */

/** Letters from which one error is forgiven, and from which two are. */
const [ONE_ERROR, TWO_ERRORS] = [4, 8];

/** How many errors are forgiven in a word. */
export function mostErrors(word: string): number {
  return word.length >= TWO_ERRORS ? 2 : word.length >= ONE_ERROR ? 1 : 0;
}

/**
 * The least number of errors that turn `typed` into `word` or into a beginning of it.
 *
 * An error is a letter too many, missing or wrong, or two neighbours swapped (the optimal string
 * alignment distance). The number is exact up to `most`, and larger than that otherwise.
 */
export function typingErrors(typed: string, word: string, most: number): number {
  const n = Math.min(word.length, typed.length + most);
  if (n < typed.length - most) return most + 1;
  let before: number[] = [];
  let last = Array.from({ length: n + 1 }, (_, j) => j);
  for (let i = 1; i <= typed.length; i++) {
    const row = [i];
    for (let j = 1; j <= n; j++) {
      const same = typed[i - 1] === word[j - 1];
      let least = Math.min(last[j]! + 1, row[j - 1]! + 1, last[j - 1]! + (same ? 0 : 1));
      const swapped = typed[i - 1] === word[j - 2] && typed[i - 2] === word[j - 1];
      if (i > 1 && j > 1 && swapped) least = Math.min(least, before[j - 2]! + 1);
      row.push(least);
    }
    if (Math.min(...row) > most) return most + 1;
    [before, last] = [last, row];
  }
  return Math.min(...last);
}
