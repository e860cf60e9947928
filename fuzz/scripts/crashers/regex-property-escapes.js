// expect: value 1
for (const p of ['L', 'Lu', 'Script=Greek', 'Script_Extensions=Hira', 'ASCII', 'Any', 'Assigned', 'ID_Start', 'Emoji', 'RGI_Emoji', 'General_Category=Decimal_Number', 'Nope', '']) { try { new RegExp(`\\p{${p}}|[^\\P{${p}}]`, 'v').test('α'); } catch (e) { if (!(e instanceof SyntaxError)) throw e; } } 1;
