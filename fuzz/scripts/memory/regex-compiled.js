// expect: memory
const k = []; for (let i = 0; ; i++) k.push(new RegExp(`(?<n${i}>a|b)[c-e]+${i}`));
