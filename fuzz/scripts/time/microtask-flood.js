// expect: timeout | memory | error NeverSettled
// Each promise waits for the next: the chain is kept as well. Where the memory ends inside of a job, that one is the last.
const again = () => Promise.resolve().then(again);
again();
