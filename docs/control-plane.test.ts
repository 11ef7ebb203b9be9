import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { controlPlaneOperator } from '@slipway/control-plane';
import { describe, expect, test } from 'vitest';

import { blocks, kubectlInLane, PageReader } from './page-reader.ts';

const page = await readFile(join(import.meta.dirname, 'control-plane.md'), 'utf8');
const kubectl = await kubectlInLane('docs/control-plane.md');

describe('docs/control-plane.md', () => {
  test.skipIf(kubectl === undefined)(
    'every command on the page works, and says what the page says',
    { timeout: 180_000 },
    async () => {
      await using reader = await PageReader.start(kubectl!, [{ command: /^node landscaper\.ts$/m, ready: 'runs' }]);
      expect(await reader.follow(page)).toBeGreaterThan(25);
    },
  );

  test('a component of your own takes fewer than 60 lines of code', () => {
    const component = blocks(page).find(({ text }) => text.startsWith('// landscaper.ts'))!;
    const code = component.text.split('\n').filter((line) => line.trim() && !line.trim().startsWith('//'));
    expect(code.length).toBeLessThan(60);
  });

  test('explains every reason', () => {
    for (const { reason, meaning, action } of controlPlaneOperator.reasons)
      expect(page).toContain(`| \`${reason}\` | ${meaning} | ${action || 'Nothing.'} |`);
  });
});
