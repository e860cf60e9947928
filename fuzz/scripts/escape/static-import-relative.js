// expect: error ReferenceError
// as: module
import x from '../../etc/passwd';
export default { run: () => x };
