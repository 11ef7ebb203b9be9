import { spawnSync } from 'node:child_process';
import { join } from 'node:path';

import { checkedPromises, root } from './checked-promises.ts';

/** `npm run test:attacks`: at full size, whatever docs/security.md says a promise is checked by. Arguments go to vitest. */
const files = new Set((await checkedPromises()).flatMap((row) => row.files));
const vitest = join(root, 'node_modules', 'vitest', 'vitest.mjs');
const { status } = spawnSync(process.execPath, [vitest, 'run', ...files, ...process.argv.slice(2)], {
  cwd: root,
  env: { ...process.env, SLIPWAY_ATTACKS: '1' },
  stdio: 'inherit',
});
process.exitCode = status ?? 1;
