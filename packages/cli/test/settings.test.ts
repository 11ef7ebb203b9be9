import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { operandOperator } from '@slipway/operand';
import type { OperatorDescription } from '@slipway/runtime';
import { describe, expect, test } from 'vitest';

import { call, servedCluster, temporaryFolder, Call } from './kit.ts';

async function withFile(text: string) {
  const folder = await temporaryFolder();
  await writeFile(join(folder.path, 'slipway.yaml'), text);
  return folder;
}

describe('flags win over the environment, the environment over the file, the file over the default', () => {
  const print = ['install', '--print'];
  const namespaceOf = (out: string) => /kind: Namespace\nmetadata:\n {2}name: (\S+)/.exec(out)?.[1];

  test('in this order', async () => {
    await using folder = await withFile('namespace: from-file\n');
    const options = { cwd: folder.path, env: { SLIPWAY_CONFIG: 'slipway.yaml' } };
    const both = { ...options, env: { ...options.env, SLIPWAY_NAMESPACE: 'from-env' } };
    expect(namespaceOf((await call([...print, '--namespace', 'from-flag'], both)).out)).toBe('from-flag');
    expect(namespaceOf((await call(print, both)).out)).toBe('from-env');
    expect(namespaceOf((await call(print, options)).out)).toBe('from-file');
    expect(namespaceOf((await call(print)).out)).toBe('slipway-system');
  });

  test('--verbose says where each came from', async () => {
    await using folder = await withFile('image: other:1\noperators: [operand]\n');
    const { err } = await call([...print, '--config', 'slipway.yaml', '--verbose', '--replicas', '3'], {
      cwd: folder.path,
      env: { SLIPWAY_NAMESPACE: 'here' },
    });
    expect(err).toContain('setting replicas = 3 (--replicas)\n');
    expect(err).toContain('setting namespace = here (SLIPWAY_NAMESPACE)\n');
    expect(err).toContain('setting image = other:1 (slipway.yaml)\n');
    expect(err).toContain('setting operators = operand (slipway.yaml)\n');
    expect(err).toContain('setting no-wait = false (default)\n');
  });

  test('--config wins over SLIPWAY_CONFIG', async () => {
    await using folder = await withFile('namespace: chosen\n');
    const options = { cwd: folder.path, env: { SLIPWAY_CONFIG: 'missing.yaml' } };
    expect(namespaceOf((await call([...print, '--config', 'slipway.yaml'], options)).out)).toBe('chosen');
    expect((await call(print, options)).code).toBe(2);
  });

  test('operators can come from the environment', async () => {
    const { err } = await call(['crds'], { env: { SLIPWAY_OPERATORS: 'nobody' } });
    expect(err).toContain("there is no operator 'nobody'");
  });

  test('a switch that says no is understood from the environment', async () => {
    const { err } = await call([...print, '--verbose'], { env: { SLIPWAY_NO_WAIT: 'true' } });
    expect(err).toContain('setting no-wait = true (SLIPWAY_NO_WAIT)\n');
  });
});

describe('what is wrong in a file or a variable is named', () => {
  test.each([
    ['frob: 1\n', "slipway.yaml: there is no setting 'frob'"],
    ['- 1\n', 'slipway.yaml: is not a map'],
    ['port: [1]\n', 'slipway.yaml: port must be a text, a number or a boolean'],
    ['replicas: many\n', "--replicas must be a whole number from 0 on, not 'many'"],
    ['a: b: c\n', 'slipway.yaml: '],
    ['force: true\n', "slipway.yaml: there is no setting 'force'"],
  ])('%j', async (text, message) => {
    await using folder = await withFile(text);
    const { code, err } = await call(['install', '--print', '--config', 'slipway.yaml'], { cwd: folder.path });
    expect(err).toContain(message);
    expect(code).toBe(2);
  });

  test('a missing file', async () => {
    const { code, err } = await call(['version', '--config', 'nowhere.yaml']);
    expect(code).toBe(2);
    expect(err).toContain('nowhere.yaml: ENOENT');
  });

  test('a switch that is neither true nor false', async () => {
    const { code, err } = await call(['install', '--print'], { env: { SLIPWAY_NO_WAIT: 'maybe' } });
    expect(code).toBe(2);
    expect(err).toContain("SLIPWAY_NO_WAIT: must be true or false, not 'maybe'");
  });

  test('a value that is none of the choices', async () => {
    const { code, err } = await call(['status'], { env: { SLIPWAY_OUTPUT: 'xml' } });
    expect(code).toBe(2);
    expect(err).toContain("SLIPWAY_OUTPUT: must be one of table, wide, json, yaml, name, not 'xml'");
  });
});

test('a kubeconfig to read is not taken for the one to write', async () => {
  await using folder = await withFile('kubeconfig: precious\n');
  await writeFile(join(folder.path, 'precious'), 'clusters: [{name: production}]\n');
  const running = new Call(['cluster', '--port', '0', '--config', 'slipway.yaml'], {
    cwd: folder.path,
    env: { HOME: folder.path },
  });
  await running.says(/export KUBECONFIG=.*kubeconfig-\d+\n/);
  expect(await running.stop()).toBe(0);
});

describe('settings of operators', () => {
  let given: Readonly<Record<string, string | undefined>> = {};
  const paced: OperatorDescription = {
    ...operandOperator,
    flags: [
      { name: 'pace', description: 'How fast.', default: '5s', type: 'duration' },
      { name: 'crew', description: 'How many.', type: 'integer', env: 'CREW' },
    ],
    controllers(settings) {
      given = settings.flags;
      throw new Error('paced: that will do');
    },
  };
  const options = { operators: [paced] };

  test('reach it as text, from flag, variable and default', async () => {
    await using cluster = await servedCluster();
    const run = ['run', '--kubeconfig', cluster.kubeconfig];
    const { code, err } = await call([...run, '--pace', '1m'], { ...options, env: { CREW: '7' } });
    expect(given).toEqual({ pace: '1m', crew: '7' });
    expect(err).toContain('slipway: paced: that will do\n  slipway run operand --help lists its settings');
    expect(code).toBe(2);
    await call(run, options);
    expect(given).toEqual({ pace: '5s' });
  });

  test('are checked by type', async () => {
    expect((await call(['run', '--pace', 'fast'], options)).err).toContain(
      '--pace must be a duration such as 90s or 5m',
    );
    expect((await call(['run', '--crew', '1.5'], options)).err).toContain("--crew must be a whole number, not '1.5'");
  });

  test('an operator that was named and lacks one is an error of up, another is left out with a word', async () => {
    await using folder = await temporaryFolder();
    const both = { operators: [operandOperator, { ...paced, name: 'paced' }], env: { HOME: folder.path } };
    expect((await call(['up', 'paced', '--port', '0'], both)).code).toBe(2);
    const running = new Call(['up', '--port', '0'], both);
    await running.says(/Operand hello → Ready/);
    expect(running.err).toBe('left out paced: paced: that will do\n');
    expect(await running.stop()).toBe(0);
  });
});
