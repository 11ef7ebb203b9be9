import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';

import { makeEnvironment } from './environment.ts';
import { helmFunctions } from './index.ts';
import { TemplateSet } from '../template/template-set.ts';

describe('sha256sum', () => {
  it('answers the same before and after Node has loaded its cryptography for it', () => {
    const set = new TemplateSet({ functions: helmFunctions, environment: makeEnvironment() });
    set.add('sum', '{{ . | sha256sum }}');
    for (const length of [0, 1, 63, 64, 5000, 100_000, 60_000, 0, 64]) {
      const text = 'ä'.repeat(length);
      expect(set.execute('sum', text)).toBe(createHash('sha256').update(text).digest('hex'));
    }
  });
});
