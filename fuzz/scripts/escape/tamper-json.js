// expect: value ["ok"]
JSON.parse = JSON.stringify = () => 'mine'; globalThis.JSON = null; echo('ok');
