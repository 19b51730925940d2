import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { bundle } from '../server/bundle.ts';

// The URL of a contestant's module, bundled as `npm start` bundles the server: when run from source, every function
// created during a request has its name set again, a cost that users never see.
export async function bundledProgram(module: string, folder: string): Promise<string> {
  return pathToFileURL(await bundle(fileURLToPath(module), join(folder, 'program'))).href;
}
