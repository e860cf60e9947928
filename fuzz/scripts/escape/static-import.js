// expect: error ReferenceError
// as: module
import * as os from 'os';
export default { run: () => os };
