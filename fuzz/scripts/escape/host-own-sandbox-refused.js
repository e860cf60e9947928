// expect: error HostError
reenter('1 + 1');
