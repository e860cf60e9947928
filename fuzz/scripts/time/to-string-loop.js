// expect: timeout
`${{ toString() { for (;;); } }}`;
