// expect: error TypeError
'use strict'; echo.extra = 1;
