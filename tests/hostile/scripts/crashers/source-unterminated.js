// expect: error SyntaxError
`${ `${ "
