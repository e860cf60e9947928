import type { SkillRuntime } from "../../../extensions/semantic-skills/skill-runtime-contract.js";

const runtime: SkillRuntime = {
  name: "graph-sync",

  async onActivate(ctx) {
    try {
      await ctx.graphClient.createTriple({
        subject: `${ctx.namespace}:agent:${ctx.agentId}`,
        predicate: `${ctx.namespace}:sync:lastActivated`,
        object: new Date().toISOString(),
      });
    } catch {
      ctx.logger.warn("graph-sync: no mark was written");
    }
  },

  async onDeactivate(ctx) {},

  async onQuery(ctx) {
    return { results: ctx.results, additionalContext: `[graph-sync] ${ctx.scope} ${ctx.predicate}` };
  },

  async onError(ctx) {
    ctx.logger.error(`graph-sync: ${ctx.operation}: ${ctx.error.message}`);
  },
};

export default runtime;
