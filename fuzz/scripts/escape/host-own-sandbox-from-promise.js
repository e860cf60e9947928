// expect: error HostError
later('x').then(() => reenter('1'));
