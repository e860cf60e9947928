// A fast JSON.parse for valid text; included in engine.c, since it uses internal functions of the engine.
//
// Rules kept here:
// - strings with escapes or non-ASCII characters, and fractions, are parsed by the engine's functions;
// - text that is invalid, deeply nested, or too large for the memory is parsed again by the engine's parser, which throws
//   the error: no error is made here, and no more stack is used than that parser uses;
// - no code of the guest runs during parsing, so new objects cannot change;
// - items of a list are usually alike: the parser first compares the names of an object with those of the previous item,
//   in order, and a string with the string at the same place there. Each is compared once, so the time is proportional
//   to the length of the text.

#define JSON_DEEPEST 64

typedef struct {
    JSContext *context;
    const uint8_t *at;    // the next character; a NUL follows the text
    uint32_t depth;
    JSParseState engine;  // for the engine's functions
} json_reader;

static JSValue json_read(json_reader *r, JSValueConst like);

static inline uint8_t json_next(json_reader *r)
{
    while (*r->at == ' ' || *r->at == '\n' || *r->at == '\r' || *r->at == '\t')
        r->at++;
    return *r->at;
}

static inline bool json_take(json_reader *r, uint8_t wanted)
{
    if (json_next(r) != wanted)
        return false;
    r->at++;
    return true;
}

// The end of the characters that need no decoding.
static inline const uint8_t *json_plain(const uint8_t *at)
{
    while (*at >= 0x20 && *at < 0x80 && *at != '"' && *at != '\\')
        at++;
    return at;
}

// Names and values are short, so this is faster than a call of `memcmp`.
static inline bool json_same(JSString *text, const uint8_t *from, size_t length)
{
    const uint8_t *with = str8(text), *end = from + length;
    if (text->len != length || text->is_wide_char || text->kind != JS_STRING_KIND_NORMAL)
        return false;
    for (; end - from >= 8; from += 8, with += 8)
        if (get_u64(from) != get_u64(with))
            return false;
    for (; from < end; from++, with++)
        if (*from != *with)
            return false;
    return true;
}

// After the opening quote.
static JSValue json_string(json_reader *r, JSValueConst like)
{
    const uint8_t *from = r->at, *to = json_plain(from);
    if (*to != '"') {
        if (json_parse_string(&r->engine, &r->at))
            return JS_EXCEPTION;
        r->engine.token.val = ' ';  // takes ownership of the string
        return r->engine.token.u.str.str;
    }
    r->at = to + 1;
    if (JS_VALUE_GET_TAG(like) == JS_TAG_STRING && json_same(JS_VALUE_GET_STRING(like), from, to - from))
        return js_dup(like);
    return to > from ? js_new_string8_len(r->context, (const char *)from, to - from)
                     : js_empty_string(r->context->rt);
}

static JSValue json_number(json_reader *r)
{
    const uint8_t *at = r->at + (*r->at == '-'), *from = at;
    int32_t whole = 0;
    if (!is_digit(*at))
        return JS_EXCEPTION;
    while (is_digit(*at) && at - from < 9)
        whole = whole * 10 + (*at++ - '0');
    if (!is_digit(*at) && *at != '.' && *at != 'e' && *at != 'E' && (*from != '0' || at == r->at + 1)) {
        whole = *r->at == '-' ? -whole : whole;
        r->at = at;
        return js_int32(whole);
    }
    if (json_parse_number(&r->engine, &r->at))
        return JS_EXCEPTION;
    r->engine.token.val = ' ';
    return r->engine.token.u.num.val;
}

// Consumes a name and its colon, if it is this name.
static bool json_take_name(json_reader *r, JSAtom name)
{
    const uint8_t *quote = r->at, *to;
    if (*quote != '"' || __JS_AtomIsTaggedInt(name))
        return false;
    to = json_plain(quote + 1);
    if (*to != '"' || !json_same(r->context->rt->atom_array[name], quote + 1, to - quote - 1))
        return false;
    r->at = to + 1;
    if (json_take(r, ':'))
        return true;
    r->at = quote;
    return false;
}

// Consumes any name and its colon.
static JSAtom json_name(json_reader *r)
{
    const uint8_t *from, *to;
    JSValue text;
    JSAtom name;
    if (!json_take(r, '"'))
        return JS_ATOM_NULL;
    from = r->at;
    to = json_plain(from);
    if (*to == '"') {
        r->at = to + 1;
        name = JS_NewAtomLen(r->context, (const char *)from, to - from);
    } else {
        text = json_string(r, JS_UNDEFINED);
        if (JS_IsException(text))
            return JS_ATOM_NULL;
        name = JS_NewAtomStr(r->context, JS_VALUE_GET_STRING(text));
    }
    if (name != JS_ATOM_NULL && !json_take(r, ':')) {
        JS_FreeAtom(r->context, name);
        return JS_ATOM_NULL;
    }
    return name;
}

// Whether an object or a list ends here; `*fine` is false when there is neither its end nor a comma.
static inline bool json_ended(json_reader *r, uint8_t bracket, bool *fine)
{
    bool ended = json_take(r, bracket);
    *fine = ended || json_take(r, ',');
    json_next(r);
    return ended;
}

// A new object with the first `count` properties of this one, which is freed.
static JSValue json_first(JSContext *ctx, JSValue object, uint32_t count)
{
    JSObject *from = JS_VALUE_GET_OBJ(object);
    JSValue to = JS_NewObject(ctx);
    for (uint32_t i = 0; i < count && !JS_IsException(to); i++)
        if (JS_DefinePropertyValue(ctx, to, get_shape_prop(from->shape)[i].atom, js_dup(from->prop[i].u.value),
                                   JS_PROP_C_W_E) < 0) {
            JS_FreeValue(ctx, to);
            to = JS_EXCEPTION;
        }
    JS_FreeValue(ctx, object);
    return to;
}

// The properties of an object as long as they have the names of the model's, in the same order.
static JSValue json_alike(json_reader *r, JSObject *model, bool *ended)
{
    JSContext *ctx = r->context;
    JSShape *shape = model->shape;  // shared with the model, so it does not change
    JSShapeProperty *names = get_shape_prop(shape);
    uint32_t count = shape->prop_count, done = 0;
    JSProperty *properties;
    JSValue object;
    bool fine = true;
    if (!json_take_name(r, names[0].atom))
        return JS_NewObject(ctx);
    object = JS_NewObjectFromShape(ctx, js_dup_shape(shape), JS_CLASS_OBJECT, NULL);
    if (JS_IsException(object))
        return object;
    properties = JS_VALUE_GET_OBJ(object)->prop;
    for (uint32_t i = 0; i < count; i++)
        properties[i].u.value = JS_UNDEFINED;
    do {
        JSValue value = json_read(r, model->prop[done].u.value);
        if (JS_IsException(value))
            fine = false;
        else {
            properties[done++].u.value = value;
            *ended = json_ended(r, '}', &fine);
        }
    } while (fine && !*ended && done < count && json_take_name(r, names[done].atom));
    if (!fine) {
        JS_FreeValue(ctx, object);
        return JS_EXCEPTION;
    }
    return done == count ? object : json_first(ctx, object, done);
}

// After the opening brace.
static JSValue json_object(json_reader *r, JSValueConst like)
{
    JSContext *ctx = r->context;
    JSObject *model = JS_VALUE_GET_TAG(like) == JS_TAG_OBJECT ? JS_VALUE_GET_OBJ(like) : NULL;
    bool ended = json_next(r) == '}', fine = true;
    JSValue object;
    r->at += ended;
    object = !ended && model && model->class_id == JS_CLASS_OBJECT && model->shape->is_hashed &&
                     model->shape->prop_count && !model->shape->deleted_prop_count
                 ? json_alike(r, model, &ended)
                 : JS_NewObject(ctx);
    if (JS_IsException(object))
        return object;
    while (!ended && fine) {
        JSAtom name = json_name(r);
        JSValue value = name == JS_ATOM_NULL ? JS_EXCEPTION : json_read(r, JS_UNDEFINED);
        fine = !JS_IsException(value) && JS_DefinePropertyValue(ctx, object, name, value, JS_PROP_C_W_E) >= 0;
        JS_FreeAtom(ctx, name);
        if (fine)
            ended = json_ended(r, '}', &fine);
    }
    if (fine)
        return object;
    JS_FreeValue(ctx, object);
    return JS_EXCEPTION;
}

// After the opening bracket.
static JSValue json_array(json_reader *r, JSValueConst like)
{
    JSContext *ctx = r->context;
    JSObject *model = JS_VALUE_GET_TAG(like) == JS_TAG_OBJECT ? JS_VALUE_GET_OBJ(like) : NULL;
    JSValue array = JS_NewArray(ctx), value = JS_UNDEFINED;
    bool ended = json_next(r) == ']', fine = true;
    r->at += ended;
    if (JS_IsException(array))
        return array;
    if (model && model->fast_array && model->u.array.count)
        value = model->u.array.u.values[0];
    while (!ended && fine) {
        value = json_read(r, value);
        fine = !JS_IsException(value) && add_fast_array_element(ctx, JS_VALUE_GET_OBJ(array), value, 0) >= 0;
        if (fine)
            ended = json_ended(r, ']', &fine);
    }
    if (fine)
        return array;
    JS_FreeValue(ctx, array);
    return JS_EXCEPTION;
}

static bool json_take_word(json_reader *r, const char *word)
{
    size_t length = strlen(word);
    if (strncmp((const char *)r->at, word, length))
        return false;
    r->at += length;
    return true;
}

// The next value; `like` is the value at the same place in the previous item.
static JSValue json_read(json_reader *r, JSValueConst like)
{
    JSValue value;
    switch (json_next(r)) {
    case '"':
        r->at++;
        return json_string(r, like);
    case '{':
    case '[':
        if (r->depth >= JSON_DEEPEST || js_check_stack_overflow(r->context->rt, 1000))
            return JS_EXCEPTION;
        r->depth++;
        value = *r->at++ == '{' ? json_object(r, like) : json_array(r, like);
        r->depth--;
        return value;
    case 't':
        return json_take_word(r, "true") ? JS_TRUE : JS_EXCEPTION;
    case 'f':
        return json_take_word(r, "false") ? JS_FALSE : JS_EXCEPTION;
    case 'n':
        return json_take_word(r, "null") ? JS_NULL : JS_EXCEPTION;
    default:
        return json_number(r);
    }
}

// The value of a JSON text, which is followed by a NUL.
JSValue read_json(JSContext *ctx, const char *text, size_t length)
{
    json_reader reader;
    JSValue value;
    reader.context = ctx;
    reader.at = (const uint8_t *)text;
    reader.depth = 0;
    js_parse_init(ctx, &reader.engine, text, length, "<input>", 1);
    value = json_read(&reader, JS_UNDEFINED);
    json_next(&reader);
    if (!JS_IsException(value) && (const char *)reader.at == text + length)
        return value;
    JS_FreeValue(ctx, value);
    JS_FreeValue(ctx, JS_GetException(ctx));
    return JS_ParseJSON(ctx, text, length, "<input>");
}

static JSValue json_parse(JSContext *ctx, JSValueConst self, int argc, JSValueConst *argv)
{
    size_t length;
    const char *text;
    JSValue value;
    if (JS_IsFunction(ctx, argv[1]))
        return js_json_parse(ctx, self, argc, argv);
    text = JS_ToCStringLen(ctx, &length, argv[0]);
    if (!text)
        return JS_EXCEPTION;
    value = read_json(ctx, text, length);
    JS_FreeCString(ctx, text);
    return value;
}

// Replaces the engine's JSON.parse by `json_parse`. 0, or -1 when out of memory.
int add_json_parse(JSContext *ctx)
{
    JSValue global = JS_GetGlobalObject(ctx), json = JS_GetPropertyStr(ctx, global, "JSON");
    int done = JS_DefinePropertyValueStr(ctx, json, "parse", JS_NewCFunction(ctx, json_parse, "parse", 2),
                                         JS_PROP_WRITABLE | JS_PROP_CONFIGURABLE);
    JS_FreeValue(ctx, json);
    JS_FreeValue(ctx, global);
    return done < 0 ? -1 : 0;
}
