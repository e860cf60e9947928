// expect: timeout | memory | error InternalError | error RangeError
/^(?:(x)|(y)|.)*z/.test('ab'.repeat(300000));
