// expect: memory
JSON.parse('[' + '[],'.repeat(400000) + '[]]');
