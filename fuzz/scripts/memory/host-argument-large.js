// expect: error RangeError | error HostError | memory
echo('x'.repeat(2e6));
