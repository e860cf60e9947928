// expect: value []
// Call sites would give the functions of the bootstrap away while it serialises an argument.
let found = []; Error.prepareStackTrace = (e, sites) => { found = sites.map((s) => String(s.getFunction?.())); return ''; };
echo({ toJSON() { return String(new Error('x').stack); } }); found;
