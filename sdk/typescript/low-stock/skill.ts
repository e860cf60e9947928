/** Lists what is running low, among the triples that were found. */
export default {
  name: "low-stock",

  onQuery({ results }) {
    const low = results.filter(({ object }) => typeof object === "number" && object < 5);
    return { additionalContext: { low: low.map(({ subject }) => subject) } };
  },
} satisfies Skill;
