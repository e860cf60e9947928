import { describe, it, expect } from "vitest";
import runtime from "./skill.js";

const context = {
  agentId: "tester",
  namespace: "shop",
  predicate: "sync:mark",
  scope: "namespace" as const,
  results: [{ subject: "a", object: "b" }],
  logger: { info: () => {}, warn: () => {}, error: () => {} },
  graphClient: {
    createTriple: async () => {},
    listTriples: async () => [],
    patternQuery: async () => [],
    deleteTriple: async () => {},
  },
};

describe("graph-sync", () => {
  it("passes all results", async () => {
    const answer = await runtime.onQuery!(context as never);
    expect(answer.results).toBe(context.results);
  });

  it("writes its mark when it starts", async () => {
    const written: unknown[] = [];
    const graphClient = { ...context.graphClient, createTriple: async (triple: unknown) => void written.push(triple) };
    await runtime.onActivate!({ ...context, graphClient } as never);
    expect(written).toHaveLength(1);
    expect(written[0]).toMatchObject({ subject: "shop:agent:tester", predicate: "shop:sync:lastActivated" });
  });

  it("survives a graph that is away", async () => {
    const graphClient = {
      ...context.graphClient,
      createTriple: async () => {
        throw new Error("away");
      },
    };
    await expect(runtime.onActivate!({ ...context, graphClient } as never)).resolves.toBeUndefined();
  });
});
