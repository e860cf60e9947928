// expect: error ReferenceError | error TypeError | error Error
import('qjs:std').then((m) => m.getenviron());
