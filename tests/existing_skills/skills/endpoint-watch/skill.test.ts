import { describe, it, expect } from "vitest";
import runtime from "./skill.js";

const context = {
  agentId: "tester",
  namespace: "shop",
  predicate: "endpoint:up",
  scope: "namespace" as const,
  results: [
    { subject: "endpoint:/health", object: "200 fine" },
    { subject: "endpoint:/search", object: "timeout" },
  ],
  logger: { info: () => {}, warn: () => {}, error: () => {} },
  graphClient: {
    createTriple: async () => {},
    listTriples: async () => [],
    patternQuery: async () => [],
    deleteTriple: async () => {},
  },
};

describe("endpoint-watch", () => {
  it("exports a runtime", () => {
    expect(runtime.name).toBe("endpoint-watch");
    expect(typeof runtime.onActivate).toBe("function");
    expect(typeof runtime.onQuery).toBe("function");
  });

  it("annotates each endpoint", async () => {
    const answer = await runtime.onQuery!(context as never);
    const health = answer.results!.map((row) => (row.object as Record<string, unknown>).health);
    expect(health).toEqual(["healthy", "slow"]);
  });
});
