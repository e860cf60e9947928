// expect: error HostError
globalThis.Error = class { }; fail('told');
