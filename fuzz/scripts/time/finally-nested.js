// expect: timeout
function spin() { try { for (;;); } finally { spin(); } }
spin();
