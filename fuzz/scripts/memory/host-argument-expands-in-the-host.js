// expect: error HostError
echo(new Array(47000).fill({ '': { '': { '': { '': 0 } } } }));
