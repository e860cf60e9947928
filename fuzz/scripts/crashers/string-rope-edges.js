// expect: value 1
let s = ''; for (let i = 0; i < 3000; i++) s = (i % 2 ? s + 'é'.repeat(i % 50) : 'a'.repeat(i % 50) + s); s.indexOf('é'); s.slice(1, -1); s.split('é').length; s === s.split('').join(''); 1;
