// expect: error ReferenceError | error TypeError | error Error
import('data:text/javascript,export default 1');
