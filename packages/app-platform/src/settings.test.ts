import { expect, test } from 'vitest';

import { settingsFrom } from './settings.ts';

test('without any variable: poll every 30 s, reconcile every 5 minutes, the Git server of the platform', () => {
  expect(settingsFrom({}, '/work')).toMatchObject({
    envDir: '/work/env',
    valuesInput: undefined,
    pollIntervalMs: 30_000,
    reconcileIntervalMs: 300_000,
    gitTimeoutMs: 10_000,
    retries: 60,
    minTimeoutMs: 30_000,
    repoUrl: 'http://gitea-http.gitea.svc.cluster.local:3000/otomi/values.git',
    branch: 'main',
    pushWebhook: undefined,
  });
});

test('the variables say where the values repository is; an empty one counts as not set', () => {
  const env = { GIT_PROTOCOL: 'https', GIT_URL: 'git.example.com', GIT_PORT: '443', GIT_ORG: 'shop', GIT_REPO: '' };
  expect(settingsFrom(env, '/').repoUrl).toBe('https://git.example.com:443/shop/values.git');
});

test.each([
  'POLL_INTERVAL_MS',
  'RECONCILE_INTERVAL_MS',
  'SYNC_INTERVAL_MS',
  'GIT_OP_TIMEOUT_MS',
  'RETRIES',
  'MIN_TIMEOUT',
  'PUSH_WEBHOOK_PORT',
])('%s that is no number is refused by its name', (name) => {
  const refused = { code: 'InvalidSetting', message: `${name}: 'soon' is not a whole number; give one, such as 1000` };
  expect(() => settingsFrom({ [name]: 'soon' }, '/')).toThrow(expect.objectContaining(refused));
});

test('a push webhook without a secret is refused', () => {
  expect(() => settingsFrom({ PUSH_WEBHOOK_PORT: '8080' }, '/')).toThrow('PUSH_WEBHOOK_SECRET_FILE');
});
