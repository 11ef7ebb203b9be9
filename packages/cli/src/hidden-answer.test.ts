import { Readable } from 'node:stream';
import { expect, test } from 'vitest';

import { hiddenAnswer } from './hidden-answer.ts';

const typed = (...chunks: string[]): Promise<string> =>
  hiddenAnswer(Readable.from(chunks.map((chunk) => Buffer.from(chunk, 'latin1'))));

test.each([
  [['secret\r'], 'secret'],
  [['sec', 'ret', '\n', 'more'], 'secret'],
  [['secrx\u007Fet\r'], 'secret'],
  [['\u007Fwrong\u0015secret\u0004'], 'secret'],
  // A letter of two bytes that come one by one.
  [['caf\xC3', '\xA9\r'], 'café'],
  [['\r'], ''],
])('what is typed as %j is the answer %j', async (chunks, answer) => {
  expect(await typed(...chunks)).toBe(answer);
});

test('Ctrl-C at a question ends the command', async () => {
  await expect(typed('sec\u0003ret\r')).rejects.toMatchObject({ message: 'interrupted', exitCode: 130 });
});
