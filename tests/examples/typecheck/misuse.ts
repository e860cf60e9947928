// The compiler must report an error on each of these lines.

export const noTimers = () => {
  // @ts-expect-error no timers
  setTimeout(() => {}, 1);
};

export const noNetwork = () => {
  // @ts-expect-error no network
  fetch("https://example.org");
};

export const noDocument = () => {
  // @ts-expect-error no DOM
  document.title;
};

export const noProcess = () => {
  // @ts-expect-error no Node.js
  process.exit();
};

// @ts-expect-error a skill has a name
export const nameless = { onQuery() {} } satisfies Skill;

// @ts-expect-error there is no such hook
export const misspelt = { name: "a", onquery() {} } satisfies Skill;

export const answerOfTheWrongShape = {
  name: "a",
  // @ts-expect-error results are triples
  onQuery: () => ({ results: ["a"] }),
} satisfies Skill;

export const contextThatIsNoJson = {
  name: "a",
  // @ts-expect-error a function cannot leave the sandbox
  onQuery: () => ({ additionalContext: { say: () => "hello" } }),
} satisfies Skill;

export const resultsAreReadOnly = {
  name: "a",
  onQuery({ results }) {
    // @ts-expect-error sort a copy
    results.sort();
  },
} satisfies Skill;

export const reasonThatThereIsNot = {
  name: "a",
  onDeactivate({ reason }) {
    // @ts-expect-error no such reason
    if (reason === "crash") logger.info(reason);
  },
} satisfies Skill;

export const remembered = async () => {
  // @ts-expect-error it is a promise
  memory.recall("a").length;
  // @ts-expect-error a text is a string
  await memory.remember(1);
  // @ts-expect-error no such option
  await memory.remember("a", { importence: 1 });
  // @ts-expect-error tags are words
  await memory.remember("a", { tags: "a" });
  // @ts-expect-error a skill cannot recall for another agent
  await memory.recall("a", { agent: "a2" });
  // @ts-expect-error the memory has no other function
  await memory.forget("a");
};

export const graph = async () => {
  // @ts-expect-error it is a promise
  graphClient.patternQuery({}).matches;
  // @ts-expect-error the object is missing
  await graphClient.createTriple({ subject: "a", predicate: "p" });
  // @ts-expect-error null is no value
  await graphClient.createTriple({ subject: "a", predicate: "p", object: null });
  // @ts-expect-error a literal has a datatype or a language
  await graphClient.createTriple({ subject: "a", predicate: "p", object: { value: "x" } });
  // @ts-expect-error an id is a string
  await graphClient.deleteTriple(1);
  // @ts-expect-error the client has no other function
  graphClient.store;
};
