// expect: value 1
let f = null; for (let i = 0; i < 30000; i++) { const g = f; f = () => g; } f = null; 1;
