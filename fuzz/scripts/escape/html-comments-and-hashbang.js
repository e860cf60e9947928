// expect: error SyntaxError
#!/usr/bin/env hashbang
<!-- old comment
1;
