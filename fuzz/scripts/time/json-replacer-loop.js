// expect: timeout
JSON.stringify({ a: 1 }, () => { for (;;); });
