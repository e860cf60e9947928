// Signs and verifies credentials with the libraries of Digital Bazaar. A line of JSON in is a line of JSON out:
//   {"verify": credential}             -> {"verified": true | false, "why": text}
//   {"issue": credential, "seed": hex} -> the signed credential
//   {"canonize": document}             -> {"nquads": text}
//   {"quads": text of N-Quads}         -> {"nquads": text}
// Nothing is fetched: what no library carries is an error.
import {createInterface} from 'node:readline';
import {DataIntegrityProof} from '@digitalbazaar/data-integrity';
import * as multikey from '@digitalbazaar/ed25519-multikey';
import {cryptosuite} from '@digitalbazaar/eddsa-rdfc-2022-cryptosuite';
import * as vc from '@digitalbazaar/vc';
import jsonld from 'jsonld';

async function documentLoader(url) {
  if(!url.startsWith('did:key:')) {
    return vc.defaultDocumentLoader(url);
  }
  const [id, fragment] = url.split('#');
  const publicKeyMultibase = id.slice('did:key:'.length);
  const method = {
    '@context': 'https://w3id.org/security/multikey/v1',
    id: `${id}#${publicKeyMultibase}`, type: 'Multikey', controller: id, publicKeyMultibase
  };
  const document = fragment ? method : {
    '@context': ['https://www.w3.org/ns/did/v1', 'https://w3id.org/security/multikey/v1'],
    id, verificationMethod: [method], assertionMethod: [method.id]
  };
  return {contextUrl: null, documentUrl: url, document};
}

async function verify(credential) {
  const suite = new DataIntegrityProof({cryptosuite});
  const {verified, error} = await vc.verifyCredential({credential, suite, documentLoader});
  const all = [error, ...(error?.errors ?? [])].filter(Boolean).map(one => one.message);
  return {verified, why: all.join('; ')};
}

async function issue(credential, hex) {
  const seed = Uint8Array.from(Buffer.from(hex, 'hex'));
  const {publicKeyMultibase} = await (await multikey.generate({seed})).export({publicKey: true});
  const controller = `did:key:${publicKeyMultibase}`;
  const key = await multikey.generate({seed, controller, id: `${controller}#${publicKeyMultibase}`});
  const suite = new DataIntegrityProof({signer: key.signer(), cryptosuite});
  return vc.issue({credential: {issuer: controller, ...credential}, suite, documentLoader});
}

async function answer(request) {
  if(request.verify) {
    return verify(request.verify);
  }
  if(request.issue) {
    return issue(request.issue, request.seed);
  }
  const quads = request.quads !== undefined;
  const nquads = await jsonld.canonize(quads ? request.quads : request.canonize, {
    algorithm: 'RDFC-1.0', format: 'application/n-quads', safe: true, base: null, documentLoader,
    ...(quads && {inputFormat: 'application/n-quads'}), canonizeOptions: {maxWorkFactor: 3}
  });
  return {nquads};
}

for await (const line of createInterface({input: process.stdin})) {
  let result;
  try {
    result = await answer(JSON.parse(line));
  } catch(error) {
    result = {failed: error.message};
  }
  process.stdout.write(JSON.stringify(result) + '\n');
}
