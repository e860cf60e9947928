import type { SkillRuntime } from "../../../extensions/semantic-skills/skill-runtime-contract.js";

const runtime: SkillRuntime = {
  name: "identity-check",

  async onActivate(ctx) {
    ctx.logger.info(`identity-check: active for ${ctx.agentId} in ${ctx.namespace}`);
  },

  async onDeactivate(ctx) {
    // nothing is kept
  },

  async onQuery(ctx) {
    const own = ["identity:level", "identity:checked"];
    const kept = ctx.results.filter(
      (row) => own.some((name) => ctx.predicate.includes(name)) || row.subject.toLowerCase().includes("identity"),
    );
    return {
      results: kept.length > 0 ? kept : ctx.results,
      additionalContext: kept.length < ctx.results.length ? `[identity-check] ${kept.length} kept` : undefined,
    };
  },
};

export default runtime;
