/**
 * `npm run bench:growth [-- NAME]`: how the cost of a hostile request grows with its size, on the embedded server. Prints processor time
 * for n, 2n and 4n and the ratios: 2 is linear, 4 is the square. Ratios, because times say more about the machine.
 */
import { startCluster } from '@slipway/apiserver';

import { costlyRequests, thingsCrd, type Costly } from '../../packages/apiserver/test/attacks/costly-requests.ts';
import { median } from '../lib/statistics.ts';

const rounds = 3;
const wanted = process.argv[2] ?? '';

/** Processor milliseconds for one request of size `n`, on a cluster that has seen it before. */
async function cost({ before, request }: Costly, n: number): Promise<number> {
  const times: number[] = [];
  for (let round = 0; round <= rounds; round += 1) {
    await using cluster = await startCluster({ controllers: 'none', crds: [thingsCrd] });
    for (const each of [...(before?.(n) ?? []), request(n)]) {
      const started = process.cpuUsage();
      await cluster.transport.send({
        method: each.method,
        path: each.path,
        headers: { 'content-type': each.type },
        body: each.body,
      });
      const { user, system } = process.cpuUsage(started);
      times[round] = (user + system) / 1_000;
    }
  }
  // The first round compiles.
  return median(times.slice(1));
}

const column = (text: string) => text.padStart(10);
console.log(`${'request'.padEnd(64)}${['n', '2n', '4n', '2n/n', '4n/2n'].map(column).join('')}`);
let worst = 0;
for (const costly of costlyRequests.filter(({ name }) => name.includes(wanted))) {
  const sizes = [4, 2, 1].map((part) => Math.floor(costly.largest / part));
  const times: number[] = [];
  for (const n of sizes) times.push(await cost(costly, n));
  const [first = 0, second = 0, third = 0] = times;
  const ratios = [second / first, third / second];
  // Below this a ratio is chance.
  if (third > 50) worst = Math.max(worst, third / first);
  const cells = [...times.map((ms) => `${ms.toFixed(0)} ms`), ...ratios.map((each) => each.toFixed(1))];
  console.log(`${costly.name.padEnd(64)}${cells.map(column).join('')}`);
}
console.log(`\nfrom n to 4n the worst grows ${worst.toFixed(1)} times; linear is 4, and 12 is the bar`);
if (worst > 12) process.exitCode = 1;
