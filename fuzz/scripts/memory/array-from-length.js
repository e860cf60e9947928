// expect: memory
Array.from({ length: 1e9 }, (_, i) => ({ i }));
