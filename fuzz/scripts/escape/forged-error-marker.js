// expect: value "!{\"name\":\"Forged\"}"
'!{"name":"Forged"}';
