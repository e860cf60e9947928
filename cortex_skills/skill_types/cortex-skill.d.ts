/**
 * Everything that the code of a skill may use, and what it exports.
 *
 * There is nothing else: no timers, no network, no files, no `process`, no `require`, and no `import` of anything
 * outside the skill's own folder. An editor completes all of this when the skill's `tsconfig.json` includes this file
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
 * The object of a triple: a plain value, another thing, or a literal of RDF with its type or language.
 *
 * A number without a fraction is an `xsd:integer`, any other an `xsd:double`. Integers beyond 2^53 lose digits in
 * JavaScript; write them as `{ value: "…", datatype: "http://www.w3.org/2001/XMLSchema#integer" }`.
 */
type Value = string | number | boolean | NodeValue | TypedValue | LanguageValue;

/** Another thing, by its name: `{ node: "package:click" }`. */
interface NodeValue {
  readonly node: string;
}

/** A literal of any datatype, which is given by its IRI. */
interface TypedValue {
  readonly value: string;
  readonly datatype: string;
}

/** A text in a language, which is given by its BCP 47 tag. */
interface LanguageValue {
  readonly value: string;
  readonly language: string;
  readonly direction?: "ltr" | "rtl";
}

/** What goes over the border of the sandbox: JSON. Members that are `undefined` are left out. */
type JsonValue =
  | string
  | number
  | boolean
  | null
  | readonly JsonValue[]
  | { readonly [key: string]: JsonValue | undefined };

/**
 * A statement. Names may be written short (`package:click`); they are read in full, with the namespace
 * (`mayros:package:click`).
 */
interface Triple {
  readonly subject: string;
  readonly predicate: string;
  readonly object: Value;
}

// --- the graph

/** A statement as it is in the graph. */
interface StoredTriple extends Triple {
  /** The hash of the statement, 64 hexadecimal digits; what `deleteTriple` takes. */
  readonly id: string;
}

/** A statement that was written; `created` is false when it was there before. */
interface CreatedTriple extends StoredTriple {
  readonly created: boolean;
}

/** Which triples are wanted: those that have every part that is given here. */
interface TriplePattern {
  readonly subject?: string | null;
  readonly predicate?: string | null;
  readonly object?: Value | null;
  /** At most so many: 1 to 1,000. `listTriples` gives 100 unless told, `patternQuery` 20. */
  readonly limit?: number | null;
  /** The `nextCursor` of the page before. */
  readonly cursor?: string | null;
}

/** What a page of triples says about the rest. */
interface Page {
  /** How many there are on all pages, if `totalIsExact`; else how many are known to be there. */
  readonly total: number;
  readonly totalIsExact: boolean;
  /** Asks for the next page; `null` on the last one. */
  readonly nextCursor: string | null;
}

interface TripleList extends Page {
  readonly triples: readonly StoredTriple[];
}

interface PatternMatches extends Page {
  readonly matches: readonly StoredTriple[];
}

/**
 * The triples of the namespace, and no others. What a skill may do with them is in its manifest: reading needs
 * `graph: [read]`, writing `graph: [write]`, and only predicates declared under `assertions` can be written.
 *
 * A call that is refused rejects with a `GraphError`.
 */
interface GraphClient {
  /** Write a statement, with a record of who did. Writing it again changes nothing. */
  createTriple(triple: Triple): Promise<CreatedTriple>;
  /** The triples that match, 100 a page unless told. */
  listTriples(pattern?: TriplePattern): Promise<TripleList>;
  /** The triples that match, 20 a page unless told. */
  patternQuery(pattern?: TriplePattern): Promise<PatternMatches>;
  /** Delete a statement by its id; true if it was there. */
  deleteTriple(id: string): Promise<boolean>;
}

/** What `graphClient` and `memory` reject with. */
interface GraphError extends Error {
  readonly name: "HostError";
  /** Stable: `permission_denied`, `undeclared_predicate`, `proof_required`, `write_limit`, `invalid_arguments` … */
  readonly code: string;
}

declare const graphClient: GraphClient;

// --- the memory

/** What to keep of a text beside it. */
interface MemoryOptions {
  /** From 0 to 1; 0.5 unless told. */
  readonly importance?: number | null;
  /** At most 8 words of at most 40 characters, by which the memory is found, too. */
  readonly tags?: readonly string[] | null;
}

/** Which memories are wanted. */
interface RecallOptions {
  /** At most so many: 1 to 50; 5 unless told. */
  readonly limit?: number | null;
  /** Leaves out what is less important; 0.3 unless told. */
  readonly minImportance?: number | null;
}

/** Something that was remembered, and how well it answers the query. */
interface RecalledMemory {
  readonly id: string;
  readonly text: string;
  readonly importance: number;
  readonly tags: readonly string[];
  /** When, in UTC: `2026-06-01T12:00:30.000Z`. */
  readonly time: string;
  /** The skill that remembered it. */
  readonly skill: string | null;
  /** `relevance * importanceWeight * recencyWeight`. */
  readonly score: number;
  readonly relevance: number;
  readonly importanceWeight: number;
  readonly recencyWeight: number;
}

/**
 * What the agent remembers on whose behalf the skill acts: its own memories, of whichever skill, and no other agent's.
 * Recalling needs `memory: [recall]`, remembering `memory: [remember]`; what is new counts as a write.
 *
 * A call that is refused rejects with a `GraphError`.
 */
interface Memory {
  /** Remember a text of at most 512 characters; its id. What is remembered already stays as it is. */
  remember(text: string, options?: MemoryOptions): Promise<string>;
  /** The memories that fit a query best, best first. */
  recall(query: string, options?: RecallOptions): Promise<readonly RecalledMemory[]>;
}

declare const memory: Memory;

// --- the log

/** Writes to the log of the host, with the skill's name in front. What is no string is shown as JSON. */
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

/** Where the skill runs. */
interface SessionContext {
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

/** A query of an agent, with the triples that answer it. */
interface QueryContext {
  readonly namespace: string;
  readonly agentId: string;
  /** The full name of the predicate that was asked for (`mayros:hasStatus`); empty when it was any. */
  readonly predicate: string;
  readonly scope: "agent" | "namespace" | "global";
  readonly results: readonly Triple[];
}

/** What a skill makes of a query. */
interface QueryAnswer {
  /** The results that the agent shall see, in this order. Only those that were found count: none can be added. */
  readonly results?: readonly Triple[];
  /** What the agent shall know besides. It is cleaned, and cut at 4,096 characters. */
  readonly additionalContext?: JsonValue;
  /** Statements that the answer should come with proofs of: at most five, of a skill that has `proofs: [request]`. */
  readonly proofRequests?: readonly ProofRequest[];
}

interface ProofRequest {
  /** `pol`, a Proof of Logic. */
  readonly proofType: string;
  readonly subject: string;
  readonly predicate: string;
}

/**
 * What `skill.ts` exports: `export default { … } satisfies Skill`. Every hook may be `async`.
 */
interface Skill {
  /** The name in SKILL.md. */
  readonly name: string;
  /** Once, before anything else. A skill that fails here is not loaded. */
  onActivate?(context: SessionContext): void | Promise<void>;
  /** Once, at the end. */
  onDeactivate?(context: DeactivateContext): void | Promise<void>;
  /** On each query, within 2 seconds. The answer may be left out. Whatever happens here, the agent gets its triples. */
  onQuery?(context: QueryContext): QueryAnswer | void | Promise<QueryAnswer | void>;
  /** After another hook threw. */
  onError?(context: ErrorContext): void | Promise<void>;
}
