// expect: error HostError
String.prototype.slice = String.prototype.substring = () => 'mine'; fail('told');
