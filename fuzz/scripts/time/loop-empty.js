// expect: timeout
// A loop with nothing in it: no call, no allocation, no host.
for (;;);
