import { realServer } from '../options/servers.ts';
import { writeRecorded } from './golden.ts';
import { ask } from './probes.ts';

/** Asks the real server everything, and writes what it answered: part of `npm run goldens:record`. */
await using server = await realServer();
const answers = await ask(server);
await writeRecorded(answers);
const probes = Object.values(answers).reduce((sum, given) => sum + Object.keys(given).length, 0);
process.stdout.write(`validation: ${Object.keys(answers).length} kinds, ${probes} objects\n`);
