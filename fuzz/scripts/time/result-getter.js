// expect: timeout
({ get answer() { for (;;); } });
