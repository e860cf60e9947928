// expect: timeout
throw { get message() { for (;;); }, toJSON() { for (;;); } };
