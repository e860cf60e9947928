// expect: timeout
{ using x = { [Symbol.dispose]() { for (;;); } }; }
