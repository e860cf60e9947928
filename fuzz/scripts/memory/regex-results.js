// expect: memory
const k = []; for (;;) k.push(/(a)(b)(c)/d.exec('xxabcxx'));
