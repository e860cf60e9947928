// expect: error RangeError
const d = new Date(0); d.toISOString = () => d.toJSON(); d.toJSON();
