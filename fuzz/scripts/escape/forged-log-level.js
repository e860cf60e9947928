// expect: value 1
logger.info('error\nforged line'); logger.info(':log\nerror\nx'); 1;
