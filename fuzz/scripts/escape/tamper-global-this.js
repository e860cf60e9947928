// expect: value [1]
for (const k of Object.getOwnPropertyNames(globalThis)) { if (k !== 'echo') { try { delete globalThis[k]; } catch { } } } echo(1);
