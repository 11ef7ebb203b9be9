import { expect, test } from 'vitest';

import { tokenKubeconfig } from './kubeconfig.ts';
import { Targets } from './target.ts';

const good = tokenKubeconfig({ server: 'https://127.0.0.1:1', token: 'canary-token', user: 'admin' });

const refused: readonly (readonly [what: string, kubeconfig: string, says: RegExp])[] = [
  ['runs a program', good.replace('token: canary-token', 'exec: {command: rm}'), /runs a program \(exec\)/],
  ['names a file with a token', good.replace('token: canary-token', 'tokenFile: /etc/passwd'), /names the file/],
  [
    'names a file with a certificate',
    good.replace('server:', 'certificate-authority: /etc/passwd\n      server:'),
    /names the file/,
  ],
  ['is not YAML', 'users: [canary-token', /it is not YAML/],
  ['is something else', 'canary-token', /it has no users/],
  ['is empty', '', /it has no users/],
];

test.each(refused)(
  'a kubeconfig that %s is refused, and the refusal quotes nothing of it',
  async (_what, text, says) => {
    await using targets = new Targets();
    const refusal = (await targets.connect(text).catch((error: unknown) => error)) as Error;
    expect(refusal.message).toMatch(says);
    expect(refusal.message).not.toContain('canary-token');
  },
);

test('a kubeconfig with a token and an authority is enough, and is opened once', async () => {
  await using targets = new Targets();
  const certificateAuthority = '-----BEGIN CERTIFICATE-----\n-----END CERTIFICATE-----\n';
  const text = tokenKubeconfig({ server: 'https://127.0.0.1:1', certificateAuthority, token: 't', user: 'admin' });
  const [first, second] = await Promise.all([targets.connect(text), targets.connect(text)]);
  expect(first).toMatchObject({ server: 'https://127.0.0.1:1', certificateAuthority });
  expect(second).toBe(first);
});

test('the least used connection is closed when there are too many', async () => {
  await using targets = new Targets({ kept: 2 });
  const text = (name: string) => tokenKubeconfig({ server: `https://127.0.0.1:1`, token: name, user: 'admin' });
  const a = await targets.connect(text('a'));
  await targets.connect(text('b'));
  expect(await targets.connect(text('a'))).toBe(a);
  await targets.connect(text('c'));
  expect(await targets.connect(text('a'))).toBe(a);
});
