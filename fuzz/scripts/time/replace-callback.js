// expect: timeout
'aaaa'.replace(/a/g, () => { for (;;); });
