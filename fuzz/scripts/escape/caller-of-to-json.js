// expect: error TypeError | error HostError
echo({ toJSON() { return (function g() { return String(g.caller); })(); } }); (function h() { 'use strict'; return h.caller; })();
