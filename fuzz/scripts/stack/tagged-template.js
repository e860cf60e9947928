// expect: error RangeError
const t = () => t`x${1}`; t();
