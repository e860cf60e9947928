// expect: value ["undefined","undefined"]
[typeof group.constructor, typeof group.__proto__];
