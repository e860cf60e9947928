// expect: error ReferenceError | error TypeError | error Error
import('os');
