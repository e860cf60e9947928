// expect: timeout
('x'.repeat(36) + '!').split(/^(x+x+)+y/);
