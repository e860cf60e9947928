import { judge, type Judgement, type Verdict } from "./licenses";

/** The limits of one enrichment and of the assertions of a session. */
const MAX_CHARACTERS = 3_400;
const MAX_FINDINGS = 20;
const MAX_DEPENDANTS = 4;

/** The findings that come first. */
const ORDER: readonly Verdict[] = ["copyleft", "unclear", "permissive"];

type Finding = {
  assert: { subject: string; predicate: "isCopyleft" | "needsReview"; object: string };
  neededBy: string[];
  neededByTotal: number;
};

export default {
  name: "license-audit",

  async onQuery({ namespace, predicate, results }) {
    if (predicate !== `${namespace}:hasLicense`) return;

    const categories = new Map<string, string>();
    for (const [license, category] of await texts("licenseCategory")) {
      categories.set(license.slice(`${namespace}:license:`.length), category);
    }
    const packages = [...(await texts("hasVersion")).keys()];
    const licenses = await texts("hasLicense");
    const statements = await texts("statesLicense");

    const judgements = new Map<string, Judgement>();
    for (const name of packages) {
      const license = licenses.get(name);
      judgements.set(name, license === undefined ? unstated(statements.get(name)) : judge(license, categories));
    }
    const count = (wanted: Verdict) => [...judgements.values()].filter(({ verdict }) => verdict === wanted).length;
    const place = ({ subject }: Triple) => ORDER.indexOf(judgements.get(subject)?.verdict ?? "unclear");

    return {
      results: [...results].sort((a, b) => place(a) - place(b)),
      additionalContext: {
        packages: packages.length,
        permissive: count("permissive"),
        copyleft: count("copyleft"),
        unclear: count("unclear"),
        noLicense: packages.filter((name) => !licenses.has(name) && !statements.has(name)).length,
        findings: await findings(judgements),
      },
    };
  },
} satisfies Skill;

function unstated(statement: string | undefined): Judgement {
  return { verdict: "unclear", category: statement === undefined ? "no licence stated" : `stated as: ${statement}` };
}

/** The findings to assert, as many as fit into an answer. */
async function findings(judgements: ReadonlyMap<string, Judgement>): Promise<Finding[]> {
  const notable = [...judgements]
    .filter(([, { verdict }]) => verdict !== "permissive")
    .sort(([, a], [, b]) => ORDER.indexOf(a.verdict) - ORDER.indexOf(b.verdict));
  const shown: Finding[] = [];
  let room = MAX_CHARACTERS;
  for (const [subject, { verdict, category }] of notable.slice(0, MAX_FINDINGS)) {
    const found = await graphClient.patternQuery({
      predicate: "dependsOn",
      object: { node: subject },
      limit: MAX_DEPENDANTS,
    });
    const finding: Finding = {
      assert: { subject, predicate: verdict === "copyleft" ? "isCopyleft" : "needsReview", object: category },
      neededBy: found.matches.map((triple) => triple.subject),
      neededByTotal: found.total,
    };
    room -= JSON.stringify(finding).length + 1;
    if (room < 0) break;
    shown.push(finding);
  }
  return shown;
}

/** The texts of a predicate in the whole namespace, by subject. */
async function texts(predicate: string): Promise<Map<string, string>> {
  const found = new Map<string, string>();
  let cursor: string | null = null;
  do {
    const page: TripleList = await graphClient.listTriples({ predicate, limit: 1000, cursor });
    for (const { subject, object } of page.triples) if (typeof object === "string") found.set(subject, object);
    cursor = page.nextCursor;
  } while (cursor !== null);
  return found;
}
