// expect: timeout
while (true) { let x = 1; x += 1; }
