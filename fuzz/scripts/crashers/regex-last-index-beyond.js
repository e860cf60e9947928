// expect: value 1
for (const f of ['g', 'y', 'gu', 'yu', 'gv']) { const r = new RegExp('(?<=a)b|$', f); for (const i of [2 ** 53, -1, NaN, 1e9, { valueOf: () => 3 }]) { r.lastIndex = i; r.exec('ab\ud83d\ude00'); 'ab'.replace(r, '$<x>$1$&'); } } 1;
