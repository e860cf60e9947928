// expect: error ReferenceError | error TypeError | error Error
import('file:///etc/passwd');
