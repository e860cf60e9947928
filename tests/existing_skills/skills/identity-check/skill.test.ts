import { describe, it, expect } from "vitest";
import runtime from "./skill.js";

const context = {
  agentId: "tester",
  namespace: "shop",
  predicate: "identity:level",
  scope: "namespace" as const,
  results: [{ subject: "identity:user:a", object: "full" }, { subject: "order:1", object: "sent" }],
  logger: { info: () => {}, warn: () => {}, error: () => {} },
  graphClient: {
    createTriple: async () => {},
    listTriples: async () => [],
    patternQuery: async () => [],
    deleteTriple: async () => {},
  },
};

describe("identity-check", () => {
  it("passes all results of its own predicates", async () => {
    const answer = await runtime.onQuery!(context as never);
    expect(answer.results).toHaveLength(2);
  });

  it("keeps its own subjects for other predicates", async () => {
    const answer = await runtime.onQuery!({ ...context, predicate: "order:state" } as never);
    expect(answer.results!.length).toBeLessThanOrEqual(context.results.length);
    expect(answer.results).toEqual([context.results[0]]);
  });
});
