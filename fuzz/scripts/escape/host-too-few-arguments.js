// expect: error HostError
sum(1);
