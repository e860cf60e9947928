// QuickJS-ng's source with three changes for speed: numbers in JSON are parsed here, JSON is parsed in json.c, and the
// interpreter uses a `switch`.
//
// Rules kept here:
// - the engine's file is compiled as it is, but for the `CHANGES` of build.py;
// - a number is parsed as the nearest double, like the C library's `strtod` (tests/sandbox/test_numbers.py). `strtod` uses
//   software floats of 128 bits here, which was the slowest part of `JSON.parse`;
// - WebAssembly has no computed `goto`: the compiler would make it a table of numbers and a `switch` over them, with two
//   table lookups for every step of the interpreter.

#include <stdlib.h>

static double read_number(const char *text, char **end);

#define strtod(text, end) read_number(text, end)
#define EMSCRIPTEN  // in the engine's file: no computed `goto`; its other effects are the same as those of WASI
#include "quickjs.c"
#undef EMSCRIPTEN
#undef strtod  // below: the function of the C library

// Integers of up to 15 digits are exact in a double, and so are powers of ten up to 22; their quotient is rounded once,
// as required. Longer numbers are parsed by the engine's parser of literals. It drops digits after the 38th, which
// ECMAScript allows but JSON.parse should not do: long numbers are parsed by the C library (which loses the sign of
// numbers that it rounds to zero).
static double read_number(const char *text, char **end)
{
    static const double powers[] = {1e0, 1e1, 1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                    1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15};
    const int negative = *text == '-';
    const char *const start = text + negative, *at = start;
    uint64_t whole = 0;
    size_t digits, fraction = 0;
    double value;
    JSATODTempMem memory;
    for (digits = 0; is_digit(*at); at++, digits++)
        whole = whole * 10 + (uint64_t)(*at - '0');
    if (*at == '.')
        for (at++; is_digit(*at); at++, digits++, fraction++)
            whole = whole * 10 + (uint64_t)(*at - '0');
    if (digits <= 15 && *at != 'e' && *at != 'E')
        value = (double)whole / powers[fraction];
    else
        value = digits <= 30 ? js_atod(start, NULL, 10, 0, &memory) : strtod(start, end);
    return negative ? -value : value;
}

#include "json.c"
