// expect: timeout
+{ [Symbol.toPrimitive]() { for (;;); } };
