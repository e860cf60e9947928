// expect: error RangeError | error TypeError | error ReferenceError | error Error
import({ toString() { throw new RangeError('specifier'); } });
