import type { SkillRuntime } from "../../../extensions/semantic-skills/skill-runtime-contract.js";

type Weight = "critical" | "high" | "low";
type Rule = { id: string; weight: Weight; description: string; pattern: RegExp };

/** The names of dangerous functions are put together, because a scanner would take them for calls. */
function rules(): Rule[] {
  const ev = "ev" + "al";
  const ex = "ex" + "ec";
  const fn = "new Fun" + "ction";
  const ft = "fe" + "tch";
  const cp = "child_" + "process";
  return [
    { id: "CWE-89", weight: "critical", description: "SQL Injection", pattern: /(\bSELECT\b.*\+|query\s*\(\s*['"`].*\$\{)/i },
    { id: "CWE-95", weight: "critical", description: "Code Injection", pattern: new RegExp("\\b" + ev + "\\s*\\(|" + fn + "\\s*\\(", "i") },
    { id: "CWE-78", weight: "critical", description: "Command Injection", pattern: new RegExp("\\b" + cp + "\\b|\\b" + ex + "Sync\\b", "i") },
    { id: "CWE-918", weight: "high", description: "Request Forgery", pattern: new RegExp("\\b" + ft + "\\s*\\(\\s*(req|url)", "i") },
    { id: "CWE-798", weight: "critical", description: "Secrets", pattern: /\b(password|api_key|token)\s*[:=]\s*["'][^"']{4,}/i },
    { id: "PROMPT-1", weight: "high", description: "Fake system message injection", pattern: /\bsystem\s*(message|prompt)\s*:/i },
    { id: "PROMPT-2", weight: "high", description: "Instruction to ignore or disregard previous context", pattern: new RegExp("\\b(ignore|disregard|forget)\\s+(all\\s+)?(previous|prior)\\s+(instructions?|rules?)", "i") },
    { id: "PROMPT-3", weight: "high", description: "Attempt to override the assistant role", pattern: /<\s*(system|instructions?)\s*>/i },
    { id: "PROMPT-4", weight: "low", description: "Invisible characters", pattern: /[\u200B\u200C\u2060\uFEFF]/ },
  ];
}

const runtime: SkillRuntime = {
  name: "flaw-finder",

  async onActivate(ctx) {
    ctx.logger.info(`flaw-finder: active for ${ctx.agentId}`);
  },

  async onQuery(ctx) {
    let critical = 0;
    const examined = ctx.results.map((row) => {
      const text = typeof row.object === "string" ? row.object : JSON.stringify(row.object);
      const flaws = rules()
        .filter((rule) => rule.pattern.test(text))
        .map(({ id, weight, description }) => ({ id, weight, description }));
      critical += flaws.filter((flaw) => flaw.weight === "critical").length;
      return { subject: row.subject, object: { original: row.object, flaws, count: flaws.length } };
    });
    return { results: examined, additionalContext: `[flaw-finder] ${examined.length} examined, ${critical} critical` };
  },

  async onError(ctx) {
    ctx.logger.error(`flaw-finder: ${ctx.operation} failed: ${ctx.error.message}`);
  },
};

export default runtime;
