import { writeRecorded } from './golden.ts';
import { realServer } from './servers.ts';
import { sweep } from './sweep.ts';

/** Asks the real server everything, and writes what came of it: part of `npm run goldens:record`. */
await using server = await realServer();
const outcomes = await sweep(server);
await writeRecorded(outcomes);
const probes = Object.values(outcomes).reduce((sum, place) => sum + Object.keys(place).length, 0);
process.stdout.write(`options: ${Object.keys(outcomes).length} places, ${probes} probes\n`);
