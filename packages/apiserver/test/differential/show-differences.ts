import { compareRuns, describeDifference } from './compare.ts';
import { readGolden } from './goldens.ts';
import { groups } from './groups.ts';
import { isAccepted, ledger } from './ledger.ts';
import { replayGroup } from './run-group.ts';
import { embeddedTarget } from './targets.ts';

/** Prints where the embedded server differs from the goldens: `npm run goldens:compare [group …]`. */
const wanted = process.argv.slice(2);
let count = 0;
for (const group of groups) {
  if (wanted.length > 0 && !wanted.includes(group.name)) continue;
  const golden = await readGolden(group.name);
  await using running = await embeddedTarget(group);
  for (const [name, exchanges] of Object.entries(await replayGroup(group, running.target))) {
    const differences = compareRuns(name, golden[name] ?? [], exchanges).filter(
      (difference) => !ledger.some((entry) => isAccepted(entry, difference)),
    );
    count += differences.length;
    if (differences.length > 0) {
      process.stdout.write(`## ${group.name}: ${name}\n${differences.map(describeDifference).join('\n')}\n`);
    }
  }
}
process.stdout.write(`${count} differences\n`);
