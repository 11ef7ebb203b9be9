import { replayGroup } from './run-group.ts';
import { groups } from './groups.ts';
import { writeGolden } from './goldens.ts';
import { referenceTarget } from './targets.ts';

/** Asks the real server and writes its answers: `npm run goldens:record [group …]`. */
const wanted = process.argv.slice(2);
for (const group of groups) {
  if (wanted.length > 0 && !wanted.includes(group.name)) continue;
  await using running = await referenceTarget(group);
  const golden = await replayGroup(group, running.target);
  await writeGolden(group.name, golden);
  const requests = Object.values(golden).reduce((sum, exchanges) => sum + exchanges.length, 0);
  process.stdout.write(`${group.name}: ${group.cases.length} cases, ${requests} answers\n`);
}
