// expect: value ["boom\nx"]
echo('boom\nx');
