// expect: timeout
echo({ toJSON() { for (;;); } });
