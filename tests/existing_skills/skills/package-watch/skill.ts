import type { SkillRuntime } from "../../../extensions/semantic-skills/skill-runtime-contract.js";

const runtime: SkillRuntime = {
  name: "package-watch",

  async onActivate(ctx) {
    ctx.logger.info(`package-watch: active for ${ctx.agentId}`);
  },

  async onQuery(ctx) {
    const marked = ctx.results.map((row) => {
      const text = typeof row.object === "string" ? row.object : "";
      return { subject: row.subject, object: { value: row.object, ...(text.includes("CVE") ? { mark: "hole" } : {}) } };
    });
    const count = marked.filter((row) => "mark" in row.object).length;
    return { results: marked, additionalContext: count > 0 ? `[package-watch] ${count} marked` : undefined };
  },
};

export default runtime;
