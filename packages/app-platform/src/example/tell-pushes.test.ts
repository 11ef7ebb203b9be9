import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';

import { runGit } from '../git/git-process.ts';
import { tellPushes } from './tell-pushes.ts';

test('every commit is told once, and one with [ci skip] in its subject as ignored', async () => {
  const cwd = await mkdtemp(join(tmpdir(), 'slipway-pushes-'));
  try {
    const identity = ['-c', 'user.name=a', '-c', 'user.email=a@example.com'];
    const commit = (text: string) => runGit([...identity, 'commit', '-q', '--allow-empty', '-m', text], { cwd });
    const said: string[] = [];
    const tell = tellPushes(cwd, (line) => said.push(line.replace(/[0-9a-f]{7}/, 'HASH')));
    await runGit(['init', '-q', '--initial-branch=main', '.'], { cwd });
    await tell();
    await commit('first');
    await commit('a team');
    await tell();
    await commit('two replicas [ci skip]');
    await commit('three replicas');
    await Promise.all([tell(), tell()]);
    expect(said).toEqual([
      'push          HASH a team',
      'push          HASH two replicas [ci skip], ignored',
      'push          HASH three replicas',
    ]);
  } finally {
    await rm(cwd, { recursive: true });
  }
});
