// malloc for the guest: two levels of size classes, adjacent free blocks are merged at once.
//
// Rules kept here:
// - every call takes bounded time: a hostile guest cannot make the lists long and slow;
// - freed memory can be used for any other size, and a block at the end grows in place: only live blocks count against the
//   memory limit;
// - the memory grows as needed and never shrinks (WebAssembly cannot shrink it). An image may have all of its memory from
//   the start: the number of pages in use is counted and limited here.
//
// A block is a header of four bytes, then the user's bytes, at a multiple of eight. A free block has its list links there
// and its size at the end, where the next block finds it.

#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define PAGE 65536u
#define IS_FREE 1u
#define BEFORE_IS_FREE 2u
#define FLAGS 7u
#define SMALLEST 16u
#define LARGEST 0x7fffff00u
#define FINE_BITS 3
#define FINE (1u << FINE_BITS)
#define TRIES 32

typedef struct block {
    uint32_t head;  // size in bytes with the header, and flags
    struct block *next, *previous;
} block;

extern unsigned char __heap_base;

static block *lists[32][FINE];
static uint32_t coarse_used;     // bit set: the rows of `lists` that have a block
static uint8_t fine_used[32];    // bit set: the lists of each row that have a block
static block *last;              // a header of size 0 at the end of the memory in use

// In pages: the memory in use, and its limit.
uint32_t memory_used, memory_limit = 65536;

static inline uint32_t size_of(const block *b) { return b->head & ~FLAGS; }
static inline block *at(void *from, ptrdiff_t offset) { return (block *)((char *)from + offset); }
static inline block *after(block *b) { return at(b, size_of(b)); }
static inline uint32_t *foot(block *b) { return (uint32_t *)after(b) - 1; }
static inline void *user(block *b) { return (char *)b + sizeof(uint32_t); }
static inline block *block_of(void *p) { return at(p, -(ptrdiff_t)sizeof(uint32_t)); }

static inline uint32_t coarse_of(uint32_t size) { return 31u - (uint32_t)__builtin_clz(size); }
static inline uint32_t fine_of(uint32_t size, uint32_t coarse) { return size >> (coarse - FINE_BITS) & (FINE - 1); }

static void put(block *b, uint32_t size)
{
    uint32_t coarse = coarse_of(size), fine = fine_of(size, coarse);
    b->head = size | IS_FREE;  // the block before a free one is never free
    *foot(b) = size;
    after(b)->head |= BEFORE_IS_FREE;
    b->previous = NULL;
    b->next = lists[coarse][fine];
    if (b->next)
        b->next->previous = b;
    lists[coarse][fine] = b;
    coarse_used |= 1u << coarse;
    fine_used[coarse] |= (uint8_t)(1u << fine);
}

static void take(block *b)
{
    uint32_t size = size_of(b), coarse = coarse_of(size), fine = fine_of(size, coarse);
    if (b->next)
        b->next->previous = b->previous;
    if (b->previous) {
        b->previous->next = b->next;
        return;
    }
    lists[coarse][fine] = b->next;
    if (!b->next && !(fine_used[coarse] &= (uint8_t)~(1u << fine)))
        coarse_used &= ~(1u << coarse);
}

// Frees a range that is in no list, merged with adjacent free blocks.
static void release(block *b, uint32_t size)
{
    block *next = at(b, size);
    if (b->head & BEFORE_IS_FREE) {
        block *before = at(b, -(ptrdiff_t)((uint32_t *)b)[-1]);
        take(before);
        size += size_of(before);
        b = before;
    }
    if (next->head & IS_FREE) {
        take(next);
        size += size_of(next);
    }
    put(b, size);
}

// Makes `b`, which is in no list and has `size` bytes, a used block of `need` bytes; the rest is freed.
static void *use(block *b, uint32_t size, uint32_t need)
{
    uint32_t before = b->head & BEFORE_IS_FREE;
    if (size - need >= SMALLEST) {
        block *rest = at(b, need);
        b->head = need | before;
        rest->head = 0;
        release(rest, size - need);
    } else {
        b->head = size | before;
        after(b)->head &= ~BEFORE_IS_FREE;
    }
    return user(b);
}

static block *find(uint32_t need)
{
    uint32_t coarse = coarse_of(need), fine = fine_of(need, coarse), above;
    block *b = lists[coarse][fine];
    // Blocks of the same class may be slightly too small: a few are tried. Every block of a larger class fits.
    for (int tries = TRIES; b && tries > 0; b = b->next, tries--)
        if (size_of(b) >= need)
            return b;
    above = fine_used[coarse] & ~((2u << fine) - 1);
    if (!above) {
        uint32_t larger = coarse_used & ~((2u << coarse) - 1);
        if (!larger)
            return NULL;
        coarse = (uint32_t)__builtin_ctz(larger);
        above = fine_used[coarse];
    }
    return lists[coarse][__builtin_ctz(above)];
}

// Adds `bytes` or more at the end of the memory in use, as a free block merged with a free block before it.
static int grow(uint32_t bytes)
{
    uint32_t pages = (bytes + PAGE - 1) / PAGE, there = __builtin_wasm_memory_size(0);
    block *first = last;
    if (!last) {  // the rest of the page in which the data ends
        memory_used = there;
        uintptr_t start = ((uintptr_t)&__heap_base + 7) & ~(uintptr_t)7;
        first = (block *)(start + 4);
        first->head = 0;
    }
    pages += memory_used;
    if (pages > memory_limit || (pages > there && __builtin_wasm_memory_grow(0, pages - there) == SIZE_MAX))
        return -1;
    memory_used = pages;
    last = (block *)((uintptr_t)pages * PAGE - sizeof(uint32_t));
    last->head = 0;
    release(first, (uint32_t)((char *)last - (char *)first));
    return 0;
}

static uint32_t needed(size_t size)
{
    uint32_t need = ((uint32_t)size + sizeof(uint32_t) + 7u) & ~7u;
    return need < SMALLEST ? SMALLEST : need;
}

void *malloc(size_t size)
{
    uint32_t need;
    block *b;
    if (size > LARGEST)
        return NULL;
    need = needed(size);
    b = find(need);
    if (!b) {
        uint32_t there = last && last->head & BEFORE_IS_FREE ? ((uint32_t *)last)[-1] : 0;
        if (grow(there < need ? need - there + SMALLEST : PAGE) || !(b = find(need)))
            return NULL;
    }
    take(b);
    return use(b, size_of(b), need);
}

void free(void *p)
{
    if (p) {
        block *b = block_of(p);
        release(b, size_of(b));
    }
}

// Without the attribute the compiler would replace the body by a call of calloc.
__attribute__((no_builtin)) void *calloc(size_t count, size_t size)
{
    size_t bytes;
    void *p;
    if (__builtin_mul_overflow(count, size, &bytes))
        return NULL;
    p = malloc(bytes);
    return p ? memset(p, 0, bytes) : NULL;
}

void *realloc(void *p, size_t size)
{
    block *b, *next;
    uint32_t need, have;
    void *moved;
    if (!p)
        return malloc(size);
    if (size > LARGEST)
        return NULL;
    b = block_of(p);
    need = needed(size);
    have = size_of(b);
    if (need > have) {
        next = after(b);
        uint32_t room = have + (next->head & IS_FREE ? size_of(next) : 0);
        if (need > room && at(b, room) == last && !grow(need - room)) {
            next = after(b);
            room = have + size_of(next);
        }
        if (need > room) {
            moved = malloc(size);
            if (moved) {
                memcpy(moved, p, have - sizeof(uint32_t));
                free(p);
            }
            return moved;
        }
        take(next);
        have = room;
    }
    return use(b, have, need);
}

size_t malloc_usable_size(void *p)
{
    return p ? size_of(block_of(p)) - sizeof(uint32_t) : 0;
}
