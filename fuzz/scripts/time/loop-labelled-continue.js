// expect: timeout
outer: while (true) { for (const k of [1, 2, 3]) { if (k === 2) continue outer; } }
