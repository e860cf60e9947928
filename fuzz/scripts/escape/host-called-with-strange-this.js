// expect: value [1]
echo.call(globalThis, 1);
