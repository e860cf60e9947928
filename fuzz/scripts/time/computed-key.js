// expect: timeout
({ [(() => { for (;;); })()]: 1 });
