// Asks a SPARQL endpoint with Comunica: node ask.mjs ENDPOINT TOKEN QUERY. Prints what it answers, as JSON.
import { QueryEngine } from "@comunica/query-sparql";

const [endpoint, token, query] = process.argv.slice(2);
const authorised = (url, options = {}) => {
  const headers = new Headers(options.headers);
  headers.set("Authorization", `Bearer ${token}`);
  return fetch(url, { ...options, headers });
};
const engine = new QueryEngine();
const result = await engine.query(query, { sources: [{ type: "sparql", value: endpoint }], destination: { type: "sparql", value: endpoint }, fetch: authorised });
if (result.resultType === "bindings") {
  const rows = await (await result.execute()).toArray();
  console.log(JSON.stringify(rows.map((row) => Object.fromEntries([...row].map(([name, term]) => [name.value, term.value])))));
} else if (result.resultType === "boolean") {
  console.log(JSON.stringify(await result.execute()));
} else if (result.resultType === "quads") {
  const quads = await (await result.execute()).toArray();
  console.log(JSON.stringify(quads.map((quad) => [quad.subject.value, quad.predicate.value, quad.object.value])));
} else {
  await result.execute();
  console.log("null");
}
