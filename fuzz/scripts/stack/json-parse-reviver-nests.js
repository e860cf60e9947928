// expect: error RangeError | timeout | memory
JSON.parse('[0]', function (k, v) { if (k === '0') this[k] = [0]; return Array.isArray(v) ? v : [0]; }) && (function f(o) { return JSON.parse('[0]', () => f(o)); })(1);
