// expect: error RangeError
function* g() { yield [...g()]; } [...g()];
