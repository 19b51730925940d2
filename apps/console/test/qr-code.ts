import readCode from 'jsqr';
import type { Locator } from 'playwright-core';

/** Reads the picture as a camera would. */
export async function readQrCode(picture: Locator): Promise<string | undefined> {
  const side = Number((await picture.getAttribute('viewBox'))!.split(' ')[2]);
  const squares = (await picture.locator('path').getAttribute('d'))!.matchAll(/M(\d+) (\d+)h1v1h-1z/g);
  const dark = new Set([...squares].map(([, x, y]) => Number(y) * side + Number(x)));
  const scale = 4;
  const pixels = new Uint8ClampedArray((side * scale) ** 2 * 4);
  for (let at = 0; at < pixels.length / 4; at++) {
    const [x, y] = [at % (side * scale), Math.floor(at / (side * scale))].map(n => Math.floor(n / scale));
    pixels.fill(dark.has(y! * side + x!) ? 0 : 255, at * 4, at * 4 + 4);
  }
  return readCode(pixels, side * scale, side * scale)?.data;
}
