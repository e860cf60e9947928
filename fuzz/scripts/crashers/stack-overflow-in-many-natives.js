// expect: error RangeError
function main() { Math.asinh(new Int32Array(2)); (5).toFixed(2); JSON.stringify('x'); [main].map(main); } main();
