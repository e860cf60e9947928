import { describe, it, expect } from "vitest";
import runtime from "./skill.js";

const context = {
  agentId: "tester",
  namespace: "shop",
  predicate: "review:note",
  scope: "namespace" as const,
  results: [{ subject: "note:1", object: "an error" }],
  logger: { info: () => {}, warn: () => {}, error: () => {} },
  graphClient: {
    createTriple: async () => {},
    listTriples: async () => [],
    patternQuery: async () => [],
    deleteTriple: async () => {},
  },
};

describe("review-notes", () => {
  it("weighs a note", async () => {
    const answer = await runtime.onQuery!(context as never);
    expect((answer.results![0].object as { weight: string }).weight).toBe("critical");
    expect(answer.additionalContext).toContain("1 notes");
  });
});
