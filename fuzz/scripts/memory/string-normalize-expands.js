// expect: memory | timeout
const k = []; for (;;) k.push('\ufdfa'.repeat(20000).normalize('NFKD'));
