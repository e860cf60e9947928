// expect: error HostError
shut();
