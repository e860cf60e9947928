import { describe, it, expect } from "vitest";
import runtime from "./skill.js";

const context = {
  agentId: "tester",
  namespace: "shop",
  predicate: "flaw:found",
  scope: "namespace" as const,
  results: [{ subject: "code:1", object: "const q = 'SELECT * FROM users WHERE id=' + id;" }],
  logger: { info: () => {}, warn: () => {}, error: () => {} },
  graphClient: {
    createTriple: async () => {},
    listTriples: async () => [],
    patternQuery: async () => [],
    deleteTriple: async () => {},
  },
};

describe("flaw-finder", () => {
  it("finds an injection", async () => {
    const answer = await runtime.onQuery(context as never);
    expect(answer.additionalContext).toContain("1 critical");
    expect(answer.results[0].object.flaws).toEqual([{ id: "CWE-89", weight: "critical", description: "SQL Injection" }]);
  });

  it("leaves clean code alone", async () => {
    const answer = await runtime.onQuery({ ...context, results: [{ subject: "code", object: "const x = 1;" }] } as never);
    expect(answer.results).toBeDefined();
    expect(answer.results[0].object.count).toBe(0);
  });
});
