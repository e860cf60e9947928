// expect: value true
let text; try { boom('secret'); } catch (e) { text = e.message + e.stack + JSON.stringify(e); } !/Traceback|File "|secret-of-the-host|\.py/.test(text);
