// expect: value ["text"]
String.prototype.toJSON = () => 'mine'; echo('text');
