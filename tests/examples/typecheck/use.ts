// Every value and function that a skill may use.

export default {
  name: "use",

  async onActivate({ namespace, agentId, sessionId }: SessionContext): Promise<void> {
    logger.debug(namespace, { agentId }, [sessionId]);
    console.log("as", "info");
  },

  async onQuery({ predicate, scope, results }) {
    const objects: Value[] = [
      "text",
      1,
      true,
      { node: "a" },
      { value: "2026-01-01", datatype: "http://www.w3.org/2001/XMLSchema#date" },
      { value: "chat", language: "fr" },
      { value: "שלום", language: "he", direction: "rtl" },
    ];
    for (const object of objects) {
      const { id, created }: CreatedTriple = await graphClient.createTriple({ subject: "a", predicate: "p", object });
      if (created) await graphClient.deleteTriple(id);
    }
    const page = await graphClient.listTriples();
    const next = await graphClient.listTriples({ cursor: page.nextCursor, limit: 10 });
    const { matches, total, totalIsExact } = await graphClient.patternQuery({ object: { node: "a" } });
    try {
      await graphClient.createTriple({ subject: "a", predicate: "undeclared", object: 1 });
    } catch (error) {
      if ((error as GraphError).code !== "undeclared_predicate") throw error;
    }
    const known: string = await memory.remember("Ana prefers tea", { importance: 0.8, tags: ["ana"] });
    const [first, ...others]: readonly RecalledMemory[] = await memory.recall("tea", { limit: 2, minImportance: 0.1 });
    if (first === undefined || others.length > 0 || first.id !== known) throw new Error("not recalled");
    const parts = [first.text, ...first.tags, first.time, first.skill ?? ""].every((part) => typeof part === "string");
    const product = first.relevance * first.importanceWeight * first.recencyWeight;
    if (!parts || Math.abs(first.score - product) > 0.001 || first.importance !== 0.8) throw new Error("not whole");
    return {
      results: results.filter(({ object }) => typeof object === "object" && "node" in object),
      additionalContext: { predicate, scope, total, totalIsExact, seen: [...next.triples, ...matches].length, no: undefined },
      proofRequests: [{ proofType: "schnorr", subject: "a", predicate: "p" }],
    };
  },

  onError: ({ error, operation }) => logger.error(operation, error.name, error.message),

  onDeactivate({ reason }) {
    logger.warn(reason);
  },
} satisfies Skill;
