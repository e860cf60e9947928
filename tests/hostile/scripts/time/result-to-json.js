// expect: timeout
({ toJSON() { for (;;); } });
