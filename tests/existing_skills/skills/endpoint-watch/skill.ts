import type { SkillRuntime } from "../../../extensions/semantic-skills/skill-runtime-contract.js";

const runtime: SkillRuntime = {
  name: "endpoint-watch",

  async onActivate(ctx) {
    ctx.logger.info(`endpoint-watch: active for ${ctx.agentId}`);
  },

  async onQuery(ctx) {
    const annotated = ctx.results.map((row) => {
      const text = typeof row.object === "string" ? row.object : JSON.stringify(row.object);
      const health = text.includes("200") ? "healthy" : text.includes("timeout") ? "slow" : "unknown";
      return { subject: row.subject, object: { value: row.object, health } };
    });
    return { results: annotated, additionalContext: `[endpoint-watch] ${annotated.length} endpoints seen` };
  },
};

export default runtime;
