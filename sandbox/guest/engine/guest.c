// The C side of the border between host and guest: QuickJS-ng as a guest, text in and text out.
//
// Rules kept here:
// - only bytes and a status cross; the host never gets a handle of a value, so it cannot leak or confuse handles;
// - an entry runs everything that it causes to its end, pending jobs included, in one crossing;
// - the host sets `mail.stop` at the deadline: the engine, which looks at it now and then, throws an error with the stack
//   that no code can catch, and which ends the entry;
// - the only import is `host_call`, text in and text out; the clock is WASI's (see imports.py);
// - a context gets the compiler by an explicit call only: sandboxes start from an image without it.

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "quickjs.h"

#define EXPORT(name) __attribute__((export_name(#name))) name
#define SCRATCH_BYTES (64 << 10)

// The functions of bootstrap.ts, in the same order; `ENTRIES` in image.py.
enum { CALL, SETTLE, TAKE_OUTCOME, ADOPT, INSTALL, DESCRIBE, ENTRY_COUNT };

// The status of an entry, as in image.py.
enum { NOTHING, TEXT, THREW, NO_MEMORY };

__attribute__((import_module("cortex"), import_name("host_call"))) int32_t host_call(const char *text, size_t length);

// json.c
int add_json_parse(JSContext *ctx);
JSValue read_json(JSContext *ctx, const char *text, size_t length);

static JSRuntime *runtime;
static JSContext *context;
static JSValue entries[ENTRY_COUNT];

// The text for the other side. The answer to `host_call` is in the scratch buffer, or in memory that the host allocated
// and that is freed here.
static struct {
    const char *text;
    size_t length;
    volatile uint32_t stop;
} mail;
static char scratch[SCRATCH_BYTES + 1] __attribute__((aligned(16)));
extern uint32_t memory_used, memory_limit;  // memory.c, in pages
static const char *lent;  // the last text for the host; the host has read it when it makes its next call

static int is_stopped(JSRuntime *rt, void *opaque)
{
    (void)rt, (void)opaque;
    return mail.stop != 0;
}

static void drop_exception(void)
{
    JS_FreeValue(context, JS_GetException(context));
}

static void take_back(void)
{
    if (lent)
        JS_FreeCString(context, lent);
    lent = NULL;
}

// Frees `value`.
static int hand_over(JSValue value, int status)
{
    take_back();
    lent = JS_ToCStringLen(context, &mail.length, value);
    JS_FreeValue(context, value);
    mail.text = lent;
    if (lent)
        return status;
    drop_exception();
    return NO_MEMORY;
}

// Lets the bootstrap describe the thrown error; when that fails, there is no memory left.
static int thrown(void)
{
    JSValue error = JS_GetException(context);
    JSValue described = JS_Call(context, entries[DESCRIBE], JS_UNDEFINED, 1, &error);
    JS_FreeValue(context, error);
    if (!JS_IsException(described))
        return hand_over(described, THREW);
    drop_exception();
    return NO_MEMORY;
}

// Runs pending jobs, then hands over the answer, or the outcome of the promise when it is undefined. Frees `answer`.
static int finish(JSValue answer)
{
    JSContext *which;
    int done;
    if (JS_IsException(answer))
        return thrown();
    while ((done = JS_ExecutePendingJob(runtime, &which)) != 0) {
        if (done < 0 && mail.stop)
            return thrown();
        if (done < 0)
            drop_exception();
    }
    if (JS_IsUndefined(answer))
        answer = JS_Call(context, entries[TAKE_OUTCOME], JS_UNDEFINED, 0, NULL);
    if (JS_IsException(answer))
        return thrown();
    return JS_IsUndefined(answer) ? NOTHING : hand_over(answer, TEXT);
}

static JSValue call_host(JSContext *ctx, JSValueConst self, int argc, JSValueConst *argv)
{
    size_t length;
    const char *text = JS_ToCStringLen(ctx, &length, argv[0]);
    JSValue answer;
    int32_t answered;
    (void)self, (void)argc;
    if (!text)
        return JS_EXCEPTION;
    mail.text = scratch;
    answered = host_call(text, length);
    JS_FreeCString(ctx, text);
    if (answered < 0)
        return JS_ThrowOutOfMemory(ctx);
    answer = JS_NewStringLen(ctx, mail.text, (size_t)answered);
    if (mail.text != scratch)
        free((void *)mail.text);
    return answer;
}

// --- called to make an image

// 0, or -1 when out of memory.
int EXPORT(guest_start)(void)
{
    runtime = JS_NewRuntime();
    context = runtime ? JS_NewContextRaw(runtime) : NULL;
    if (runtime)
        JS_SetInterruptHandler(runtime, is_stopped, NULL);
    return context && !JS_AddIntrinsicBaseObjects(context) && !JS_AddIntrinsicDate(context) &&
                   !JS_AddIntrinsicRegExp(context) && !JS_AddIntrinsicJSON(context) &&
                   !JS_AddIntrinsicProxy(context) && !JS_AddIntrinsicMapSet(context) &&
                   !JS_AddIntrinsicTypedArrays(context) && !JS_AddIntrinsicPromise(context) &&
                   !add_json_parse(context)
               ? 0
               : -1;
}

// Runs the bootstrap, which uses `__host`, and keeps the functions that it returns. 0, or -1.
int EXPORT(guest_boot)(const uint8_t *code, size_t length)
{
    JSValue global = JS_GetGlobalObject(context), functions;
    int failed = JS_SetPropertyStr(context, global, "__host", JS_NewCFunction(context, call_host, "host", 1)) < 0;
    JS_FreeValue(context, global);
    functions = JS_EvalFunction(context, JS_ReadObject(context, code, length, JS_READ_OBJ_BYTECODE));
    for (uint32_t i = 0; i < ENTRY_COUNT; i++) {
        entries[i] = JS_GetPropertyUint32(context, functions, i);
        failed |= !JS_IsFunction(context, entries[i]);
    }
    JS_FreeValue(context, functions);
    return failed ? -1 : 0;
}

void *EXPORT(guest_mail)(void) { return &mail; }
void *EXPORT(guest_scratch)(void) { return scratch; }
void *EXPORT(guest_used)(void) { return &memory_used; }

// --- called in an image

// With room for a terminating NUL.
void *EXPORT(guest_alloc)(size_t size) { return size + 1 ? malloc(size + 1) : NULL; }
void EXPORT(guest_free)(void *block) { free(block); }

// The limits of the JavaScript heap, of the whole memory in pages, and of the stack.
void EXPORT(guest_limit)(size_t heap_bytes, uint32_t pages, size_t stack_bytes)
{
    memory_limit = pages;
    JS_UpdateStackTop(runtime);
    JS_SetMemoryLimit(runtime, heap_bytes);
    JS_SetMaxStackSize(runtime, stack_bytes);
}

int EXPORT(guest_add_compiler)(void) { return JS_AddIntrinsicEval(context); }

// Compiles `length` bytes of UTF-8, followed by a NUL; TEXT is bytecode.
int EXPORT(guest_compile)(const char *source, size_t length, const char *filename, int as_module)
{
    int flags = JS_EVAL_FLAG_COMPILE_ONLY | (as_module ? JS_EVAL_TYPE_MODULE : JS_EVAL_TYPE_GLOBAL);
    JSValue code = JS_Eval(context, source, length, filename, flags);
    if (JS_IsException(code))
        return thrown();
    mail.text = (const char *)JS_WriteObject(context, &mail.length, code, JS_WRITE_OBJ_BYTECODE);
    JS_FreeValue(context, code);
    return mail.text ? TEXT : thrown();
}

// Runs compiled code, which is freed unless it is in the scratch buffer, and passes its value to an entry: the value of a
// script to SETTLE; the promise of a module's evaluation and its namespace to ADOPT.
int EXPORT(guest_run)(uint8_t *code, size_t length, int entry)
{
    JSValue values[2] = {JS_UNDEFINED, JS_UNDEFINED}, answer;
    JSValue object = JS_ReadObject(context, code, length, JS_READ_OBJ_BYTECODE);
    JSModuleDef *module = NULL;
    if (code != (uint8_t *)scratch)
        free(code);
    take_back();
    if (JS_IsException(object))
        return thrown();
    if (JS_VALUE_GET_TAG(object) == JS_TAG_MODULE) {
        module = JS_VALUE_GET_PTR(object);
        if (JS_ResolveModule(context, object) < 0) {
            JS_FreeValue(context, object);
            return thrown();
        }
    }
    values[0] = JS_EvalFunction(context, object);
    if (JS_IsException(values[0]))
        return thrown();
    if (module)
        values[1] = JS_GetModuleNamespace(context, module);
    answer = JS_IsException(values[1]) ? JS_EXCEPTION : JS_Call(context, entries[entry], JS_UNDEFINED, 2, values);
    JS_FreeValue(context, values[0]);
    JS_FreeValue(context, values[1]);
    return finish(answer);
}

// Calls an entry with the value of a JSON text, or with no argument when `text` is NULL. The text is freed unless it is
// in the scratch buffer.
int EXPORT(guest_enter)(int entry, char *text, size_t length)
{
    JSValue argument = JS_UNDEFINED, answer;
    take_back();
    if (text) {
        text[length] = 0;
        argument = read_json(context, text, length);
        if (text != scratch)
            free(text);
        if (JS_IsException(argument))
            return thrown();
    }
    answer = JS_Call(context, entries[entry], JS_UNDEFINED, text ? 1 : 0, &argument);
    JS_FreeValue(context, argument);
    return finish(answer);
}
