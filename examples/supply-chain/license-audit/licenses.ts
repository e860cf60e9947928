/**
 * The obligations of an SPDX licence expression.
 *
 * `A OR B` leaves the choice, so the milder one counts; `A AND B` requires both, so the stricter one counts.
 */

/** From mild to strict. A category that is not listed needs a review. */
export type Verdict = "permissive" | "copyleft" | "unclear";

export interface Judgement {
  readonly verdict: Verdict;
  /** The category of the licence that decides, or the error in the expression. */
  readonly category: string;
}

const STRICTNESS: Record<Verdict, number> = { permissive: 0, copyleft: 1, unclear: 2 };

const VERDICTS: Partial<Record<string, Verdict>> = {
  "Permissive": "permissive",
  "Public Domain": "permissive",
  "Copyleft": "copyleft",
  "Copyleft Limited": "copyleft",
};

/** Longer than any real expression; deep parentheses would exhaust the stack. */
const MAX_WORDS = 200;
const INVALID: Judgement = { verdict: "unclear", category: "no valid expression" };

/** Evaluate an expression by the category of each licence in it. */
export function judge(expression: string, categories: ReadonlyMap<string, string>): Judgement {
  const words = expression.match(/[()]|[^\s()]+/g) ?? [];
  if (words.length > MAX_WORDS) return INVALID;
  let next = 0;
  let closed = true;

  function joined(operator: "OR" | "AND", operand: () => Judgement, wins: (order: number) => boolean): Judgement {
    let judgement = operand();
    while (words[next] === operator) {
      next++;
      const other = operand();
      if (wins(STRICTNESS[other.verdict] - STRICTNESS[judgement.verdict])) judgement = other;
    }
    return judgement;
  }

  const anyOf = (): Judgement => joined("OR", allOf, (order) => order < 0);
  const allOf = (): Judgement => joined("AND", one, (order) => order > 0);

  function one(): Judgement {
    let word = words[next++] ?? "";
    if (word === "(") {
      const inner = anyOf();
      closed &&= words[next++] === ")";
      return inner;
    }
    if (words[next] === "WITH") {
      word += ` WITH ${words[next + 1]}`;
      next += 2;
    }
    const category = categories.get(word) ?? `unknown licence ${word}`;
    return { verdict: VERDICTS[category] ?? "unclear", category };
  }

  const judgement = anyOf();
  return closed && next === words.length ? judgement : INVALID;
}
