// expect: error NeverSettled
// as: module
export default { run: () => new Promise(() => { }) };
