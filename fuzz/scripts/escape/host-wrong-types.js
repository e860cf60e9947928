// expect: error HostError
sum({}, []);
