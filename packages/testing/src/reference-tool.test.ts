import * as installed from '@slipway/reference-cluster';
import { expect, test } from 'vitest';

import { NoReferenceTool, referenceTool, type ReferenceTool } from './reference-tool.ts';

test('the tool of this repository is what the kit asks for', async () => {
  const asked: ReferenceTool = installed;
  expect(await referenceTool()).toBe(asked);
});

test('where it is not installed, the error says what to do', async () => {
  const missing = Object.assign(new Error('Cannot find package'), { code: 'ERR_MODULE_NOT_FOUND' });
  const error = await referenceTool(() => Promise.reject(missing)).catch((reason: unknown) => reason);
  expect(error).toBeInstanceOf(NoReferenceTool);
  expect(error).toMatchObject({ code: 'ERR_NO_REFERENCE_TOOL', cause: missing });
  expect((error as Error).message).toContain('unset SLIPWAY_CLUSTER');
});

test('a tool that fails while it loads is not called missing', async () => {
  const broken = new SyntaxError('broken');
  await expect(referenceTool(() => Promise.reject(broken))).rejects.toBe(broken);
});
