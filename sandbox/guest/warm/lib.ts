// See skill.ts.
export enum Level {
  Low = 1,
  High = Low << 2,
}

export interface Row {
  subject: string;
  predicate: string;
  object: unknown;
  at?: number;
  note?: string;
}

export namespace Bounds {
  export const largest = 2 ** 53;
}

export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  return sorted.length % 2 ? sorted[middle]! : (sorted[middle - 1]! + sorted[middle]!) / 2;
}

export const within = (value: number, low: number, high = Bounds.largest): boolean => value >= low && value <= high;
