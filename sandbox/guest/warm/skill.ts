// What esbuild bundles while its image is made (see hatch_build.py): a skill of the kind that people write, so that the
// tables and the memory that such a skill needs are there already. Nothing of it is in what is bundled later.
import { Level, type Row, median, within } from './lib';

interface Tally {
  readonly seen: Map<string, number>;
  last?: Row;
}

type Verdict = 'approved' | 'pending' | 'rejected';
type Scores = Partial<Record<Verdict, number[]>>;

function logged<This, Arguments extends unknown[], Result>(
  target: (this: This, ...parts: Arguments) => Result,
  context: ClassMethodDecoratorContext,
): (this: This, ...parts: Arguments) => Result {
  const name = String(context.name);
  return function (this: This, ...parts: Arguments): Result {
    console.debug(`${name}(${parts.length})`);
    return target.call(this, ...parts);
  };
}

abstract class Rule {
  static count = 0;
  readonly #weight: number;
  constructor(
    protected name: string,
    weight = 1,
  ) {
    this.#weight = weight;
    Rule.count += 1;
  }
  get weight(): number {
    return this.#weight;
  }
  abstract holds(row: Row, tally: Tally): boolean;
}

class Fresh extends Rule {
  accessor limit = 30 * 24 * 3600;
  @logged
  override holds({ subject, object, at = 0 }: Row, tally: Tally): boolean {
    tally.seen.set(subject, (tally.seen.get(subject) ?? 0) + 1);
    if (typeof object === 'number' && !Number.isNaN(object)) return object > this.limit;
    for (const [key, value] of tally.seen) {
      if (value > 3 || /^mayros:(customer|order):\d{1,9}$/u.test(key)) continue;
      switch (true) {
        case at === 0:
          return false;
        default:
          break;
      }
    }
    return subject.startsWith('mayros:') && within(at, 0, this.limit) === true;
  }
}

const rules: Rule[] = [new Fresh('fresh'), new Fresh('again', 2)];
const scores: Scores = { approved: [1, 2, 3], pending: [] };
let failures = 0;

export async function check(rows: Row[]): Promise<Record<string, unknown>> {
  const tally: Tally = { seen: new Map() };
  const open = rows.filter((row) => rules.every((rule) => rule.holds(row, tally)));
  try {
    tally.last = rows.at(-1);
    const { status, ...rest } = JSON.parse(JSON.stringify(tally.last ?? { status: null })) as Record<string, unknown>;
    scores.rejected ??= [];
    scores.rejected.push(...open.map((_, index) => index ** 2));
    return { status, rest, level: Level[Level.High], median: median(scores.approved!), big: 10n };
  } catch (error: unknown) {
    failures++;
    throw new Error(`check ${error instanceof Error ? error.message : 'failed'}`, { cause: error });
  } finally {
    for (let i = 0; i < rows.length && failures < 10; i += 1) delete rows[i]!.note;
  }
}

export default {
  name: 'warm',
  async onActivate(ctx: { namespace: string; config?: { limit?: number } }): Promise<void> {
    (rules[0] as Fresh).limit = ctx.config?.limit ?? 7;
  },
  async onQuery(ctx: { results: Row[] }) {
    const told = await check(ctx.results);
    return { results: ctx.results, additionalContext: JSON.stringify(told, null, 2) };
  },
  onError: (error: Error): string => error.message,
} satisfies Record<string, unknown>;
