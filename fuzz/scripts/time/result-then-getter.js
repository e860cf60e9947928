// expect: timeout
({ get then() { for (;;); } });
