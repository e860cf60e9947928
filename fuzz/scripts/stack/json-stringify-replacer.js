// expect: error RangeError | timeout
JSON.stringify({}, (k, v) => ({ v }));
