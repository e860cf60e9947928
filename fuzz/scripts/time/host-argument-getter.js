// expect: timeout
echo({ get x() { for (;;); } });
