// A picture of the page as a PNG file, beside its SVG.
//
// Rules kept here:
// - the picture is drawn from the SVG that the server answers, which has its style sheet and neither links nor scripts;
// - nothing is sent anywhere: the file is made in this browser, at twice the size of the picture;
// - the button is hidden without this file, and where the browser cannot draw the picture.

const SCALE = 2;
const MOST = 8000; // pixels of a side: browsers draw no larger canvas everywhere

offer();

/** Shows the buttons of the page, and prepares those that were not shown. */
export function offer(): void {
  for (const button of document.querySelectorAll<HTMLElement>('[data-png][hidden]')) {
    button.hidden = false;
    button.addEventListener('click', async () => {
      const file = await drawn(button.dataset.png ?? '');
      if (file) save(file, button.dataset.file ?? 'picture.png');
      else button.hidden = true;
    });
  }
}

/** The picture at an address as a PNG file; undefined where it cannot be drawn. */
async function drawn(address: string): Promise<Blob | undefined> {
  const answer = await fetch(address, { headers: { accept: 'image/svg+xml' } });
  if (!answer.ok) return undefined;
  const source = URL.createObjectURL(new Blob([await answer.arrayBuffer()], { type: 'image/svg+xml' }));
  try {
    const image = new Image();
    image.src = source;
    await image.decode();
    const scale = Math.min(SCALE, MOST / image.naturalWidth, MOST / image.naturalHeight);
    const canvas = document.createElement('canvas');
    canvas.width = Math.ceil(image.naturalWidth * scale);
    canvas.height = Math.ceil(image.naturalHeight * scale);
    const context = canvas.getContext('2d');
    if (!context) return undefined;
    context.fillStyle = '#fff'; // the colours of the file are those of the light theme
    context.fillRect(0, 0, canvas.width, canvas.height);
    context.drawImage(image, 0, 0, canvas.width, canvas.height);
    return await new Promise((done) => canvas.toBlob((file) => done(file ?? undefined), 'image/png'));
  } catch {
    return undefined;
  } finally {
    URL.revokeObjectURL(source);
  }
}

function save(file: Blob, name: string): void {
  const link = document.createElement('a');
  link.href = URL.createObjectURL(file);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}
