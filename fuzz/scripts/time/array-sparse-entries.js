// expect: timeout
for (const e of new Array(4294967295).entries());
