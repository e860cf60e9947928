// What is broken on a page: a window that scrolls sideways, a text outside of its box, a text on another one.
() => {
    const found = [];
    const near = 1.5;
    const shows = element => element.checkVisibility({checkVisibilityCSS: true}) && !element.matches('.skip');
    const clip = element => {
        const kept = {left: -1e6, top: -1e6, right: 1e6, bottom: 1e6};
        for (let at = element; at && at !== document.documentElement; at = at.parentElement) {
            const style = getComputedStyle(at), box = at.getBoundingClientRect();
            if (style.clipPath !== 'none') return null;
            if (style.overflowX !== 'visible') { kept.left = Math.max(kept.left, box.left); kept.right = Math.min(kept.right, box.right); }
            if (style.overflowY !== 'visible') { kept.top = Math.max(kept.top, box.top); kept.bottom = Math.min(kept.bottom, box.bottom); }
        }
        return kept;
    };
    const cut = (box, kept) => ({
        left: Math.max(box.left, kept.left), right: Math.min(box.right, kept.right),
        top: Math.max(box.top, kept.top), bottom: Math.min(box.bottom, kept.bottom)});
    const named = element => `${element.closest('[class]')?.tagName.toLowerCase()}.${element.closest('[class]')?.getAttribute('class')} “${element.textContent.slice(0, 24)}”`;
    if (document.documentElement.scrollWidth > innerWidth) found.push(`the page is ${document.documentElement.scrollWidth} wide`);
    for (const heading of document.querySelectorAll('h1')) {
        if (heading.scrollWidth > heading.clientWidth + near) found.push(`the heading is ${heading.scrollWidth} wide`);
    }
    const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT), boxes = [];
    while (texts.nextNode()) {
        const node = texts.currentNode, element = node.parentElement;
        if (!node.data.trim() || !shows(element) || element.closest('select, option, textarea, script, style')) continue;
        const kept = clip(element);
        if (!kept) continue;
        let box = element;
        while (getComputedStyle(box).display.startsWith('inline') && getComputedStyle(box).display === 'inline') box = box.parentElement;
        const around = box.closest('svg') ? null : box.getBoundingClientRect();
        const range = document.createRange();
        range.selectNodeContents(node);
        for (const part of range.getClientRects()) {
            const seen = cut(part, kept);
            if (seen.right - seen.left < 2 || seen.bottom - seen.top < 2) continue;
            if (seen.right > innerWidth + near || seen.left < -near) found.push(`outside of the window: ${named(element)}`);
            if (around && (seen.right > around.right + near || seen.left < around.left - near)) found.push(`leaves its box: ${named(element)}`);
            boxes.push({...seen, element});
        }
    }
    boxes.sort((one, other) => one.top - other.top);
    boxes.forEach((one, place) => {
        for (let next = place + 1; next < boxes.length && boxes[next].top < one.bottom - 2; next += 1) {
            const other = boxes[next];
            if (one.element === other.element || one.element.contains(other.element) || other.element.contains(one.element)) continue;
            const wide = Math.min(one.right, other.right) - Math.max(one.left, other.left);
            const high = Math.min(one.bottom, other.bottom) - Math.max(one.top, other.top);
            const least = Math.min(one.bottom - one.top, other.bottom - other.top);
            if (wide > 3 && high > 0.4 * least) found.push(`${named(one.element)} lies on ${named(other.element)}`);
        }
    });
    return [...new Set(found)];
}
