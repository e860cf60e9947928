// expect: error NeverSettled
({ then() { } });
