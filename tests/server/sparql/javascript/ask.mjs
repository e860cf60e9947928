// Runs a SPARQL operation with sparql-http-client: node ask.mjs ENDPOINT TOKEN OPERATION TEXT. Prints the answer as JSON.
import ParsingClient from "sparql-http-client/ParsingClient.js";

const [endpoint, token, operation, text] = process.argv.slice(2);
const headers = { Authorization: `Bearer ${token}` };
const client = new ParsingClient({ endpointUrl: endpoint, updateUrl: endpoint, headers });
const answer = await client.query[operation](text);
if (operation === "select") {
  console.log(JSON.stringify(answer.map((row) => Object.fromEntries(Object.entries(row).map(([name, term]) => [name, term.value])))));
} else if (operation === "construct") {
  console.log(JSON.stringify([...answer].map((quad) => [quad.subject.value, quad.predicate.value, quad.object.value])));
} else {
  console.log(JSON.stringify(answer ?? null));
}
