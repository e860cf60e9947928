// expect: value 1
for (const f of ['u', 'v', 'iu', 'su', 'y', 'gu']) for (const s of ['\ud800', '\udc00', '\ud800\udc00', '\udc00\ud800', 'a\ud83d']) { new RegExp('[^a]|.|\\p{L}|(?<!\\ud83d)', f).exec(s); new RegExp('(?<=.)', f).exec(s); } 1;
