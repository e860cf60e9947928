// Counts the words of a text, without those that the owner left out, and keeps the total in the storage.
import { configRead, storageHandle, storageRead, storageWrite } from "palyra:plugins/host-capabilities@0.2.0";

const KEY = "total";

export function run(tool, input) {
  const { text } = JSON.parse(input);
  const leftOut = new Set(JSON.parse(configRead("left_out")));
  const words = text
    .toLowerCase()
    .split(/[\s.,;:!?()"]+/)
    .filter((word) => word && !leftOut.has(word));
  if (!words.length) throw "the text has no words"; // `run` answers with this error
  const total = kept() + words.length;
  storageWrite(storageHandle(0), KEY, new TextEncoder().encode(String(total)));
  return JSON.stringify({ words: words.length, total });
}

function kept() {
  try {
    return Number(new TextDecoder().decode(storageRead(storageHandle(0), KEY)));
  } catch {
    return 0; // nothing is stored yet
  }
}
