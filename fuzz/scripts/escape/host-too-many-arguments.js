// expect: error HostError
sum(1, 2, 3, 4);
