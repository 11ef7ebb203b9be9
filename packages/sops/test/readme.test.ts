import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';

import * as sops from '../src/index.ts';

test('the example of the README runs', async () => {
  const readme = await readFile(join(import.meta.dirname, '..', 'README.md'), 'utf8');
  const [, code = ''] = /```ts\nimport [^;]*;\n([^]*?)```/.exec(readme) ?? [];
  // oxlint-disable-next-line no-implied-eval -- the text of our own README
  const run = new Function(
    'sops',
    `const { decrypt, edit, encrypt, generateAgeKey } = sops; return (async () => { ${code}
    return { changed, identity }; })();`,
  ) as (api: typeof sops) => Promise<{ changed: Buffer; identity: string }>;
  const { changed, identity } = await run(sops);
  const plain = await sops.decrypt(changed, { format: 'yaml', identities: [identity] });
  expect(plain.toString()).toBe('user: ann\npassword: hunter3\n');
  expect(changed.toString()).toContain('user: ann');
});
