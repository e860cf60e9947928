// expect: value 1
const d = new Date(); d.setFullYear({ valueOf() { d.setTime(NaN); return 2000; } }, { valueOf() { d.setTime(0); return 1; } }); d.setHours(NaN, { valueOf() { d.setTime(8.64e15); return 1; } }); 1;
