import { describe, it, expect } from "vitest";
import runtime from "./skill.js";

const context = {
  agentId: "tester",
  namespace: "shop",
  predicate: "package:state",
  scope: "namespace" as const,
  results: [{ subject: "package:a", object: "CVE-1" }, { subject: "package:b", object: "fine" }],
  logger: { info: () => {}, warn: () => {}, error: () => {} },
  graphClient: {
    createTriple: async () => {},
    listTriples: async () => [],
    patternQuery: async () => [],
    deleteTriple: async () => {},
  },
};

describe("package-watch", () => {
  it("marks packages", async () => {
    const answer = await runtime.onQuery!(context as never);
    expect(answer.results).toHaveLength(2);
    expect(answer.results![0].object).toHaveProperty("mark", "hole");
    expect(answer.results![1].object).not.toHaveProperty("mark");
  });

  it("says nothing when nothing is marked", async () => {
    const answer = await runtime.onQuery!({ ...context, results: [] } as never);
    expect(answer.additionalContext).toBeUndefined();
  });
});
