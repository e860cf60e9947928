// expect: timeout
('a' + '\u0301\u0323'.repeat(3e5)).normalize('NFC');
