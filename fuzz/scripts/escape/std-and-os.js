// expect: value ["undefined","undefined","undefined","undefined"]
[typeof std, typeof os, typeof bjson, typeof scriptArgs];
