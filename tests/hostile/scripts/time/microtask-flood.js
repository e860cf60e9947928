// expect: timeout | memory
// Each promise waits for the next: the chain is kept as well.
const again = () => Promise.resolve().then(again);
again();
