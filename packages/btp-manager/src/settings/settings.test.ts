import { expect, test } from 'vitest';

import { settingRows, settingsFromFlags, withConfigMap } from './settings.ts';

const hour = 3_600_000;

test('the defaults are those of the original', () => {
  expect(settingsFromFlags()).toMatchObject({
    chartNamespace: 'kyma-system',
    secretName: 'sap-btp-manager',
    configName: 'sap-btp-manager',
    deploymentName: 'sap-btp-operator-controller-manager',
    processingStateRequeueIntervalMs: 300_000,
    readyStateRequeueIntervalMs: 900_000,
    readyTimeoutMs: 300_000,
    readyCheckIntervalMs: 30_000,
    hardDeleteTimeoutMs: 1_200_000,
    hardDeleteCheckIntervalMs: 10_000,
    deleteRequestTimeoutMs: 300_000,
    enableLimitedCache: 'true',
    probeIntervalMs: hour,
    caCertificateExpirationMs: 87_600 * hour,
    webhookCertificateExpirationMs: 8760 * hour,
    expirationBoundaryMs: -168 * hour,
    rsaKeyBits: 4096,
  });
});

test('flags are named after their ConfigMap keys', () => {
  const flags = Object.fromEntries(settingRows.filter((row) => row.flag).map((row) => [row.key, row.flag]));
  expect(flags).toMatchObject({
    HardDeleteTimeout: 'hard-delete-timeout',
    ManagerResourcesPath: 'manager-resources-path',
    ProcessingStateRequeueInterval: 'processing-state-requeue-interval',
  });
});

test('the ConfigMap wins over flags, flags win over defaults', () => {
  const base = settingsFromFlags({ 'hard-delete-timeout': '10m', 'ready-timeout': '1m30s' });
  expect(base).toMatchObject({ hardDeleteTimeoutMs: 600_000, readyTimeoutMs: 90_000 });
  const { settings, problems } = withConfigMap(base, { HardDeleteTimeout: '1h30m', ExpirationBoundary: '-24h' });
  expect(problems).toEqual([]);
  expect(settings).toMatchObject({
    hardDeleteTimeoutMs: 1.5 * hour,
    readyTimeoutMs: 90_000,
    expirationBoundaryMs: -24 * hour,
  });
});

test('a key that goes restores its flag or default', () => {
  const base = settingsFromFlags({ 'ready-timeout': '1m' });
  const changed = withConfigMap(base, { ReadyTimeout: '2m', RsaKeyBits: '2048' }).settings;
  expect(changed).toMatchObject({ readyTimeoutMs: 120_000, rsaKeyBits: 2048 });
  expect(withConfigMap(base, {}).settings).toEqual(base);
  expect(withConfigMap(base, undefined).settings).toEqual(base);
});

test('what cannot be used is named and changes nothing else', () => {
  const base = settingsFromFlags();
  const { settings, problems } = withConfigMap(base, {
    ReadyTimeout: 'soon',
    RsaKeyBits: '1',
    ReadyCheckInterval: '0s',
    Colour: 'red',
    HardDeleteTimeout: '5m',
  });
  expect(settings).toEqual({ ...base, hardDeleteTimeoutMs: 300_000 });
  expect(problems).toEqual([
    { name: 'ReadyTimeout', message: '"soon" is not a duration; write one such as 90s or 1h30m' },
    { name: 'RsaKeyBits', message: '"1" must be 2048, 3072 or 4096' },
    { name: 'ReadyCheckInterval', message: '"0s" must be above 0' },
    { name: 'Colour', message: 'is not a setting' },
  ]);
});

test('a flag that cannot be used is an error that names it', () => {
  expect(() => settingsFromFlags({ 'ready-timeout': '5 minutes' })).toThrow('--ready-timeout: ');
});
