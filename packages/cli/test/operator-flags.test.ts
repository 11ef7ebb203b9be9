import type { KubeObject } from '@slipway/kube';
import { operandOperator } from '@slipway/operand';
import type { OperatorDescription, OperatorFlag } from '@slipway/runtime';
import { describe, expect, test } from 'vitest';
import { parseAllDocuments } from 'yaml';

import { call, servedCluster, temporaryFolder } from './kit.ts';

const pace: OperatorFlag = { name: 'pace', description: 'How fast.', default: '5s', type: 'duration' };

/** An operator that remembers its settings and then does not start. */
function remembering(name: string, flags: readonly OperatorFlag[]) {
  const given: Record<string, string | undefined>[] = [];
  const operator: OperatorDescription = {
    ...operandOperator,
    name,
    flags,
    controllers(settings) {
      given.push({ ...settings.flags });
      if (name === 'zebra') throw new Error('enough seen');
      return [];
    },
  };
  return { operator, given };
}

describe('a flag two operators share', () => {
  test('is named per operator; the bare name belongs to nobody', async () => {
    await using cluster = await servedCluster();
    const ant = remembering('ant', [pace]);
    const zebra = remembering('zebra', [pace]);
    const options = { operators: [ant.operator, zebra.operator] };
    const run = ['run', '--kubeconfig', cluster.kubeconfig];
    const { err } = await call([...run, '--ant-pace', '1m'], { ...options, env: { SLIPWAY_ZEBRA_PACE: '2m' } });
    expect(err).toContain('enough seen');
    expect([ant.given, zebra.given]).toEqual([[{ pace: '1m' }], [{ pace: '2m' }]]);
    expect((await call([...run, '--pace', '1m'], options)).err).toContain("unknown option '--pace'");
    expect((await call(['run', 'ant', '--help'], { ...options, columns: 200 })).out).toMatch(
      /--ant-pace <duration> .*\(SLIPWAY_ANT_PACE, default: 5s\)/,
    );
  });

  test('has two keys in a file', async () => {
    await using cluster = await servedCluster();
    const file = await cluster.file('settings.yaml', 'ant-pace: 3m\nzebra-pace: 4m\n');
    const ant = remembering('ant', [pace]);
    const zebra = remembering('zebra', [pace]);
    await call(['run', '--kubeconfig', cluster.kubeconfig, '--config', file], {
      operators: [ant.operator, zebra.operator],
    });
    expect([ant.given, zebra.given]).toEqual([[{ pace: '3m' }], [{ pace: '4m' }]]);
  });
});

describe('a flag one operator has', () => {
  test.each([
    ['its full name', ['--zebra-pace', '1m'], {}],
    ['its bare name', ['--pace', '1m'], {}],
    ['the variable of its full name', [], { SLIPWAY_ZEBRA_PACE: '1m', SLIPWAY_PACE: '2m' }],
    ['the variable of its bare name', [], { SLIPWAY_PACE: '1m' }],
  ])('can be set by %s', async (_way, argv, env) => {
    await using cluster = await servedCluster();
    const zebra = remembering('zebra', [pace]);
    await call(['run', '--kubeconfig', cluster.kubeconfig, ...argv], { operators: [zebra.operator], env });
    expect(zebra.given).toEqual([{ pace: '1m' }]);
  });

  test('has only its full name where the command has a flag of that name', async () => {
    const logs: OperatorFlag = { name: 'log-level', description: 'Of the zebra.', type: 'string' };
    const zebra = remembering('zebra', [logs]);
    const { out } = await call(['run', 'zebra', '--help'], { operators: [zebra.operator], columns: 200 });
    expect(out).toMatch(/^ {2}--zebra-log-level <string> {2,}Of the zebra\. \(SLIPWAY_ZEBRA_LOG_LEVEL\)/m);
    expect(out).toMatch(/^ {2}--log-level <level> {2,}least level/m);
  });
});

describe('permission variants', () => {
  const small = [{ apiGroups: [''], resources: ['serviceaccounts'], verbs: ['impersonate'] }];
  const operator: OperatorDescription = {
    ...operandOperator,
    permissionVariants: [
      { name: 'impersonate', description: 'the small role', permissions: () => small },
      {
        name: 'manifests',
        description: 'what a folder needs',
        value: 'dir',
        permissions: async (dir) => [{ apiGroups: [dir], resources: ['*'], verbs: ['get'] }],
      },
    ],
  };
  const rules = async (...argv: string[]) => {
    const { out, code } = await call(['rbac', 'operand', ...argv], { operators: [operator] });
    expect(code).toBe(0);
    const roles = parseAllDocuments(out).map((document) => document.toJS() as KubeObject);
    return roles.find(({ kind, metadata }) => kind === 'ClusterRole' && metadata.name === 'slipway-operand');
  };

  test('replace the usual permissions', async () => {
    expect(await rules()).toMatchObject({ rules: operandOperator.permissions });
    expect(await rules('--impersonate')).toMatchObject({ rules: small });
    expect(await rules('--operand-impersonate')).toMatchObject({ rules: small });
  });

  test('can take a value', async () => {
    await using folder = await temporaryFolder();
    expect(await rules('--manifests', folder.path)).toMatchObject({ rules: [{ apiGroups: [folder.path] }] });
  });
});
