// expect: value 1
for (let r = 2; r <= 36; r++) { (-9223372036854775808n).toString(r); (-(1n << 4096n)).toString(r); } 1;
