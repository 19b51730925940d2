import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { bundle } from '../server/bundle.ts';

// The address of a contestant's module, bundled as `npm start` bundles the server: run from its sources, every function
// that is made while a request is answered would be given its name again, at a cost that users never see.
export async function bundledProgram(module: string, folder: string): Promise<string> {
  return pathToFileURL(await bundle(fileURLToPath(module), join(folder, 'program'))).href;
}
