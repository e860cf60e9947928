// expect: value "__proto__"
'__proto__';
