// expect: timeout
throw Object.assign(() => 0, { [Symbol.toPrimitive]() { for (;;); }, toJSON() { for (;;); } });
