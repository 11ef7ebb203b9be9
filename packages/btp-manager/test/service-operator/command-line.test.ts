import { describe, expect, test } from 'vitest';

import { CommandLineError, parseFlags } from './command-line.ts';
import { readConfiguration } from './configuration.ts';

describe('the command line of the service operator', () => {
  test('knows exactly the flags of the real one', () => {
    expect(() => parseFlags(['--metrics-bind-address=:8080'])).toThrow(
      new CommandLineError('flag provided but not defined: -metrics-bind-address'),
    );
    expect(parseFlags(['--metrics-addr=:1', '-health-probe-bind-address', ':2'])).toMatchObject({
      'metrics-addr': ':1',
      'health-probe-bind-address': ':2',
      logger_use_dev_mode: 'true',
    });
  });

  test('takes a boolean without a value, and refuses one that is none', () => {
    expect(parseFlags(['--enable-leader-election'])['enable-leader-election']).toBe('true');
    expect(() => parseFlags(['--enable-leader-election=yes'])).toThrow('invalid boolean value "yes"');
  });
});

describe('the environment of the service operator', () => {
  test('has the defaults of the real one', () => {
    expect(readConfiguration({})).toMatchObject({ syncPeriodMs: 60_000, webhooks: true, temporaryFolder: '/tmp' });
  });

  test('refuses a value of another type', () => {
    expect(() => readConfiguration({ ALLOW_CLUSTER_ACCESS: 'perhaps' })).toThrow('ALLOW_CLUSTER_ACCESS');
    expect(() => readConfiguration({ SYNC_PERIOD: 'soon' })).toThrow('soon');
  });
});
