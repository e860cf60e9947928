// expect: timeout
((strings) => { for (;;) strings.raw; })`x`;
