/**
 * The API of skills: the global functions that their code may use, and the object that it exports.
 *
 * Nothing else is available: no timers, no network, no files, no `process`, no `require`, and no `import` of files
 * outside the folder of the skill. Editors complete these names if the `tsconfig.json` of the skill includes this file
 * and sets `"lib": ["ES2023"]` and `"types": []`.
 *
 *     export default {
 *       name: "my-skill",
 *       onQuery({ results }) {
 *         return { additionalContext: { seen: results.length } };
 *       },
 *     } satisfies Skill;
 */

// --- values

/**
 * The object of a triple: a plain value, a node, or an RDF literal with its datatype or language.
 *
 * A number without a fraction is an `xsd:integer`, any other an `xsd:double`. Integers beyond 2^53 lose digits in
 * JavaScript; write them as `{ value: "…", datatype: "http://www.w3.org/2001/XMLSchema#integer" }`.
 */
type Value = string | number | boolean | NodeValue | TypedValue | LanguageValue;

/** A node (IRI), by its name: `{ node: "package:click" }`. */
interface NodeValue {
  readonly node: string;
}

/** A literal with a datatype, given as an IRI. */
interface TypedValue {
  readonly value: string;
  readonly datatype: string;
}

/** A language-tagged string; the language is a BCP 47 tag. */
interface LanguageValue {
  readonly value: string;
  readonly language: string;
  readonly direction?: "ltr" | "rtl";
}

/** A value that can cross the border of the sandbox: JSON. Members that are `undefined` are omitted. */
type JsonValue =
  | string
  | number
  | boolean
  | null
  | readonly JsonValue[]
  | { readonly [key: string]: JsonValue | undefined };

/**
 * A triple. Names may be written without the namespace (`package:click`); the graph returns them with it
 * (`mayros:package:click`).
 */
interface Triple {
  readonly subject: string;
  readonly predicate: string;
  readonly object: Value;
}

// --- the graph

/** A triple in the graph. */
interface StoredTriple extends Triple {
  /** The hash of the triple, 64 hexadecimal digits; the argument of `deleteTriple`. */
  readonly id: string;
}

/** The result of a write; `created` is false if the triple existed before. */
interface CreatedTriple extends StoredTriple {
  readonly created: boolean;
}

/** A pattern: triples match if they have every part that is given. */
interface TriplePattern {
  readonly subject?: string | null;
  readonly predicate?: string | null;
  readonly object?: Value | null;
  /** The maximum number of triples, 1 to 1,000. Default: 100 for `listTriples`, 20 for `patternQuery`. */
  readonly limit?: number | null;
  /** The `nextCursor` of the previous page. */
  readonly cursor?: string | null;
}

/** The position of a page among all matching triples. */
interface Page {
  /** The number of matching triples if `totalIsExact`, else a lower bound. */
  readonly total: number;
  readonly totalIsExact: boolean;
  /** The cursor of the next page; `null` on the last page. */
  readonly nextCursor: string | null;
}

interface TripleList extends Page {
  readonly triples: readonly StoredTriple[];
}

interface PatternMatches extends Page {
  readonly matches: readonly StoredTriple[];
}

/**
 * A client for the triples of the namespace. Reading needs the permission `graph: [read]`, writing `graph: [write]`;
 * only predicates declared under `assertions` can be written.
 *
 * A refused call rejects with a `GraphError`.
 */
interface GraphClient {
  /** Write a triple with a provenance record. Writing an existing triple changes nothing. */
  createTriple(triple: Triple): Promise<CreatedTriple>;
  /** The matching triples, by default 100 a page. */
  listTriples(pattern?: TriplePattern): Promise<TripleList>;
  /** The matching triples, by default 20 a page. */
  patternQuery(pattern?: TriplePattern): Promise<PatternMatches>;
  /**
   * Delete a triple by its id. Resolves to whether it existed. A statement that has proofs, or whose predicate needs one,
   * is withdrawn, and only the skill that asserted it may do that.
   */
  deleteTriple(id: string): Promise<boolean>;
}

/** The error of `graphClient` and `memory`. */
interface GraphError extends Error {
  readonly name: "HostError";
  /** A stable code: `permission_denied`, `undeclared_predicate`, `proof_required`, `write_limit`, `invalid_arguments` … */
  readonly code: string;
  /** What to do: `did you mean reorder?`. Part of the message too. */
  readonly hint?: string;
}

declare const graphClient: GraphClient;

// --- the memory

/** Properties of a memory. */
interface MemoryOptions {
  /** From 0 to 1. Default: 0.5. */
  readonly importance?: number | null;
  /** At most 8 words of at most 40 characters, which are searched like the text. */
  readonly tags?: readonly string[] | null;
}

/** Limits of a recall. */
interface RecallOptions {
  /** The maximum number of memories, 1 to 50. Default: 5. */
  readonly limit?: number | null;
  /** The minimum importance. Default: 0.3. */
  readonly minImportance?: number | null;
}

/** A memory and its score for the query. */
interface RecalledMemory {
  readonly id: string;
  readonly text: string;
  readonly importance: number;
  readonly tags: readonly string[];
  /** The time of creation, in UTC: `2026-06-01T12:00:30.000Z`. */
  readonly time: string;
  /** The agents that wrote it; empty if it was the one for which the skill acts. */
  readonly writtenBy: readonly string[];
  /** The skill that created it. */
  readonly skill: string | null;
  /** A reflection is what the agent concluded from other memories of its own. */
  readonly kind: "observation" | "reflection";
  /** How far it is from what was observed: 0 for an observation, 1 to 3 for a reflection. */
  readonly depth: number;
  /** The ids of the memories that a reflection draws from. */
  readonly reflectsOn: readonly string[];
  /** `relevance * importanceWeight * recencyWeight`. */
  readonly score: number;
  readonly relevance: number;
  readonly importanceWeight: number;
  readonly recencyWeight: number;
  /** The weight of the words of the query that it has, from 0 to 1, independent of other memories that match. */
  readonly coverage?: number;
  /** The similarity of its meaning to that of the query, from 0 to 1; only where the host has an embedder. */
  readonly similarity?: number;
}

/**
 * The memories of the agent for which the skill acts, made by any skill. Memories of other agents are not accessible.
 * Recalling needs `memory: [recall]`, remembering `memory: [remember]`; a new memory counts as a write. With
 * `memory: [inspect]`, `graphClient` queries of the terms of memories read their statements.
 *
 * A refused call rejects with a `GraphError`.
 */
interface Memory {
  /** Remember a text of at most 512 characters and resolve to its id. An existing memory is not changed. */
  remember(text: string, options?: MemoryOptions): Promise<string>;
  /** The memories that match a query best, best first. */
  recall(query: string, options?: RecallOptions): Promise<readonly RecalledMemory[]>;
}

declare const memory: Memory;

// --- the log

/** Writes to the log of the host, prefixed with the name of the skill. Other values than strings become JSON. */
interface Logger {
  debug(...values: unknown[]): void;
  info(...values: unknown[]): void;
  warn(...values: unknown[]): void;
  error(...values: unknown[]): void;
  /** The same as `info`. */
  log(...values: unknown[]): void;
}

declare const logger: Logger;
/** The same as `logger`. */
declare const console: Logger;

// --- the hooks

/** The globals as members of each hook's context, beside its data; they are not enumerable. */
interface HookContext {
  readonly logger: Logger;
  readonly graphClient: GraphClient;
  readonly memory: Memory;
}

/** The context of a hook. */
interface SessionContext extends HookContext {
  readonly namespace: string;
  readonly agentId: string;
  readonly sessionId: string;
}

interface DeactivateContext extends SessionContext {
  readonly reason: "session_end" | "reload" | "unload";
}

interface ErrorContext extends SessionContext {
  readonly error: { readonly name: string; readonly message: string };
  /** The hook that failed: `onActivate` or `onQuery`. */
  readonly operation: string;
}

/** A query of an agent and its results. */
interface QueryContext extends HookContext {
  readonly namespace: string;
  readonly agentId: string;
  /** The full name of the queried predicate (`mayros:hasStatus`); empty if the query names none. */
  readonly predicate: string;
  readonly scope: "agent" | "namespace" | "global";
  readonly results: readonly Triple[];
}

/** The result of `onQuery`. */
interface QueryAnswer {
  /**
   * The results for the agent, in this order: a selection of the given results. A result is recognized by its subject
   * and object, and its predicate if there is one. If any entry is not one of the given results, all of them are shown.
   */
  readonly results?: readonly { readonly subject: string; readonly predicate?: string; readonly object: unknown }[];
  /**
   * Additional information for the agent (the enrichment), at most 4,096 characters. Terms of the results, numbers,
   * booleans and dates pass. Text passes in fields that the manifest declares under `semantic.enrichment.fields`, of
   * signed skills, if it is not an instruction to the model. A key is declared, or one word of at most 40 characters.
   */
  readonly additionalContext?: JsonValue;
  /** Requests for proofs of statements: at most five, with the permission `proofs: [request]`. */
  readonly proofRequests?: readonly ProofRequest[];
  /** Actions that are proposed: at most five, with the permission `actions: [request]`. Each waits for a person. */
  readonly actionRequests?: readonly { readonly action: string; readonly inputs: { readonly [name: string]: JsonValue } }[];
}

interface ProofRequest {
  /** `pol`, a Proof of Logic. */
  readonly proofType: string;
  readonly subject: string;
  readonly predicate: string;
}

/**
 * The default export of `skill.ts`: `export default { … } satisfies Skill`. Every hook may be `async`.
 */
interface Skill {
  /** The name in SKILL.md. */
  readonly name: string;
  /** Called once, before all other hooks. If it throws, the skill is active without it, and degraded. */
  onActivate?(context: SessionContext): void | Promise<void>;
  /** Called once, when the skill is reloaded or unloaded, or the session ends. */
  onDeactivate?(context: DeactivateContext): void | Promise<void>;
  /** Called on each query, with a limit of 2 seconds. If it fails, the agent still gets the triples. */
  onQuery?(context: QueryContext): QueryAnswer | void | Promise<QueryAnswer | void>;
  /** Called after another hook threw. */
  onError?(context: ErrorContext): void | Promise<void>;
}
