// expect: value [["inner"]]
echo({ toJSON: () => echo('inner') });
