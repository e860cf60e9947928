// expect: value "!{\"name\":\"x\"}"
echo('!{"name":"x"}')[0];
