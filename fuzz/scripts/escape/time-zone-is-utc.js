// expect: value [0,"1970-01-01T00:00:00.000Z"]
[new Date(0).getTimezoneOffset(), new Date(0).toISOString()];
