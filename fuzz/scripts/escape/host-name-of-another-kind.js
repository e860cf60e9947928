// expect: error TypeError
group.__proto__.id();
