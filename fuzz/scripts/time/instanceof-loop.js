// expect: timeout
({}) instanceof { [Symbol.hasInstance]() { for (;;); } };
