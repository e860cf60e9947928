// expect: value 1
const o = {}; for (const k of ['0', '00', '-0', '1.0', '4294967294', '4294967295', '4294967296', '2147483647', '2147483648', '9007199254740992', '1e3', 'Infinity', 'NaN']) { o[k] = 1; const a = []; a[k] = 1; a.length; delete a[k]; } Object.keys(o).length; 1;
