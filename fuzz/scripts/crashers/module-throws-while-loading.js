// expect: error Thrown
// as: module
throw { not: 'an error' };
