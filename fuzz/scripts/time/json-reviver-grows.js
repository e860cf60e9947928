// expect: timeout | memory
// The reviver makes the array longer than the walk is.
JSON.parse('[0,0]', function (k, v) { if (Array.isArray(this)) this.length = 2 ** 32 - 1; return v; });
