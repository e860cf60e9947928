// expect: error RangeError
const r = /a/; r.exec = () => r.test('a'); r.test('a');
