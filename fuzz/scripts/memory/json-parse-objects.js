// expect: memory
JSON.parse('[' + '{"a":{}},'.repeat(150000) + '0]');
