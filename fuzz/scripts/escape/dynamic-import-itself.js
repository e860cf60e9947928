// expect: value {"default":{}}
// What is loaded already is all there is to import.
// as: module
export default { run: () => import('skill.js') };
