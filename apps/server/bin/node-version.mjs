import cluster from 'node:cluster';

// Plain enough for every version of Node to read, so that an old one says what is missing and not where it stumbled.

/** What is wrong with running Stak on a version of Node: it refuses, or only warns. */
export function judge(version) {
  const [major, minor] = version.split('.').map(Number);
  if (major < 20 || (major === 20 && minor < 19))
    return { refused: `this is Node ${version}; Stak needs 20.19 or newer: https://nodejs.org` };
  if (![20, 22, 24].includes(major))
    return { warning: `this is Node ${version}; Stak is tested on 20.19, 22 and 24` };
  return {};
}

const { refused, warning } = judge(process.versions.node);
if (refused !== undefined) {
  console.error(`stak: ${refused}`);
  process.exit(1);
}
// The processes that a server starts run this, too.
const isStarting = process.argv[2] === 'start' && !cluster.isWorker;
if (warning !== undefined && isStarting) console.error(`stak: ${warning}`);
