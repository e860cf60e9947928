// expect: value 1
for (const p of ['$', '$$', '$&', '$`', "$'", '$1', '$01', '$99', '$<', '$<a', '$<a>', '$100']) { 'abc'.replace('b', p); 'abc'.replace(/(?<a>b)/, p); 'abc'.replaceAll(/(b)(c)?/g, p); } 1;
