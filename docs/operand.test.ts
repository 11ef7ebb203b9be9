import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Operand } from '@slipway/operand';
import { toCustomResourceDefinition } from '@slipway/kube';
import { describe, expect, test } from 'vitest';

import { kubectlInLane, PageReader } from './page-reader.ts';

const page = await readFile(join(import.meta.dirname, 'operand.md'), 'utf8');
const kubectl = await kubectlInLane('docs/operand.md');

describe('docs/operand.md', () => {
  test.skipIf(kubectl === undefined)(
    'every command on the page works, and says what the page says',
    { timeout: 180_000 },
    async () => {
      await using reader = await PageReader.start(kubectl!);
      expect(await reader.follow(page)).toBeGreaterThan(15);
    },
  );

  test('lists every field of the spec and no other', () => {
    const crd = toCustomResourceDefinition(Operand) as unknown as {
      spec: { versions: { schema: { openAPIV3Schema: { properties: { spec: { properties: object } } } } }[] };
    };
    const fields = Object.keys(crd.spec.versions[0]!.schema.openAPIV3Schema.properties.spec.properties);
    const table = page.slice(page.indexOf('## The spec'), page.indexOf('## Health of your own kinds'));
    const documented = [...table.matchAll(/^\| `(\w+)` \|/gm)].map(([, field]) => field!);
    expect(documented.sort()).toEqual(fields.sort());
  });
});
