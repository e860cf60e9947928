// expect: timeout
({})[{ toString() { for (;;); } }];
