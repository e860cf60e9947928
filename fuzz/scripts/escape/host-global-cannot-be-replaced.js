// expect: value ["real"]
try { globalThis.echo = () => 'mine'; } catch { } try { Object.defineProperty(globalThis, 'echo', { value: () => 'mine' }); } catch { } delete globalThis.echo; echo('real');
