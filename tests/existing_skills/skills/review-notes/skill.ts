import type { SkillRuntime } from "../../../extensions/semantic-skills/skill-runtime-contract.js";

const runtime: SkillRuntime = {
  name: "review-notes",

  async onActivate(ctx) {
    ctx.logger.info(`review-notes: active for ${ctx.agentId}`);
  },

  async onQuery(ctx) {
    const weighed = ctx.results.map((row) => {
      const text = typeof row.object === "string" ? row.object : JSON.stringify(row.object);
      const weight = text.includes("error") ? "critical" : "info";
      return { ...row, object: { ...row, weight } };
    });
    return { results: weighed, additionalContext: `[review-notes] ${weighed.length} notes weighed` };
  },
};

export default runtime;
