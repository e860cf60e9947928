// expect: error n
throw { toJSON() { return echo(echo('deep')); }, get name() { return echo('n'); }, get message() { return echo('m'); }, get stack() { return echo('s'); }, __proto__: Error.prototype };
