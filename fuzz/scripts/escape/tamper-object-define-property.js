// expect: error HostError
Object.defineProperty = Object.freeze = () => 'mine'; fail('told');
