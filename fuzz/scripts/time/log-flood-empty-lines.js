// expect: timeout
for (;;) logger.warn('');
